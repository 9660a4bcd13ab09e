"""The page of ``fiedler explore`` in a real browser: answers by hand, the ranking that follows, and files."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from browsing import NEEDS_BROWSER, asked_for, browser, limit, media
from exploring import HOSTILE, running, write_table

from fiedler import SpectralSelector, SSelect

pytest.importorskip("starlette", reason="needs the extra 'explore'")
pytest.importorskip("uvicorn", reason="needs the extra 'explore'")
pytestmark = NEEDS_BROWSER
OPTIONS = ["--target", "kind", "--id", "id", "--top", 3]


@pytest.fixture(autouse=True)
def limited():
    with limit(180):
        yield


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


class Page:
    """The open page, its server and its table."""

    def __init__(self, driver, server, X, groups):
        self.driver, self.server, self.X, self.groups = driver, server, X, groups
        self.y = np.where(np.arange(len(X)) < 9, groups, -1)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition="true"):
        """Until the page has shown every reply, and a condition holds."""
        from selenium.webdriver.support.wait import WebDriverWait

        idle = "const r = document.getElementById('explore');"
        idle += f"return r.dataset.ready === 'true' && r.dataset.busy === '0' && ({condition})"
        WebDriverWait(self.driver, 60, poll_frequency=0.05).until(lambda d: d.execute_script(idle))

    def open(self):
        self.driver.get(self.server.address)
        self.wait()
        return self

    def order(self):
        return [
            int(j)
            for j in self.run(
                "return [...document.querySelectorAll('.fx-ranking tbody tr')].map(r => r.dataset.feature)"
            )
        ]

    def place(self, row):
        """Where a row is on the screen, from its coordinates and the size of the canvas."""
        table = self.server.send("open")["table"]
        x, y = table["places"][table["rows"].index(row)]
        box = self.run("return document.querySelector('.fx-canvas').getBoundingClientRect().toJSON()")
        side = min(box["width"], box["height"]) / 2 - 18
        return box["x"] + box["width"] / 2 + x * side, box["y"] + box["height"] / 2 - y * side

    def mouse(self, *events):
        for kind, (x, y), buttons in events:
            about = {"type": kind, "x": x, "y": y, "button": "left" if buttons else "none", "buttons": buttons}
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", about | {"clickCount": 1})

    def click_row(self, row):
        at = self.place(row)
        self.mouse(("mouseMoved", at, 0), ("mousePressed", at, 1))
        self.driver.execute_cdp_cmd(
            "Input.dispatchMouseEvent",
            {"type": "mouseReleased", "x": at[0], "y": at[1], "button": "left", "clickCount": 1},
        )

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def press(self, text):
        """Click the button with this text."""
        self.run(
            "[...document.querySelectorAll('button')].find(b => b.textContent.startsWith(arguments[0])).click()", text
        )

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)


@pytest.fixture
def page(driver, tmp_path):
    """The page of a new table, in a wide light window."""
    path = tmp_path / "data.csv"
    X, groups = write_table(path)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [media("light")]})
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    with running(path, *OPTIONS) as server:
        driver.get_log("performance"), driver.get_log("browser")
        yield Page(driver, server, X, groups).open()
        assert driver.get_log("browser") == []  # no error on the console, whatever was done
        driver.get("about:blank")


def labels(page):
    """The labels as the file has them."""
    return np.array(["a", "b", HOSTILE], dtype=object)[page.groups], np.arange(len(page.X)) < 9


def fitted(page, criterion="subset", n=3, **known):
    names, known_rows = labels(page)
    y = np.where(known_rows, names, None)
    return SpectralSelector(criterion, n_features_to_select=n).fit(page.X, y, **known).order_.tolist()


def test_it_opens_without_error_or_outside_request(page):
    page.wait()
    asked, failed = asked_for(page.driver)
    inside = page.server.address
    assert asked
    assert all(address.startswith(inside) for address in asked if not address.startswith(("data:", "about:")))
    assert not [e for e in failed if not e["params"].get("canceled")]
    assert page.order() == fitted(page)


def test_a_pair_by_two_clicks_moves_the_ranking_as_the_selector_does_and_undo_takes_it_back(driver, tmp_path):
    path = tmp_path / "data.csv"
    X, groups = write_table(path)
    selector = SpectralSelector("subset", n_features_to_select=3)
    before = selector.fit(X).order_.tolist()
    both = {"must_link": [[20, 23]], "cannot_link": [[20, 24]]}
    after = selector.fit(X, **both).order_.tolist()
    assert before != after
    with running(path, "--id", "id", "--drop", "kind", "--top", 3) as server:
        page = Page(driver, server, X, groups).open()
        assert page.order() == before
        page.click_row(20)
        page.click_row(24)
        page.wait("document.querySelector('.fx-selection-text').textContent.includes('s20')")
        page.press("Different")
        page.wait("r.dataset.version === '1'")
        assert "s20 and s24 are different" in page.text(".fx-answers")
        assert "pairs of both kinds" in page.text(".fx-notes")
        page.click_row(20)
        page.click_row(23)
        driver.find_element("tag name", "body").send_keys("s")  # outside the page nothing happens
        page.run("document.querySelector('.fx-canvas').focus()")
        driver.switch_to.active_element.send_keys("s")
        page.wait("r.dataset.version === '2'")
        assert page.order() == after
        moved = page.run("return [...document.querySelectorAll('.fx-up, .fx-down')].map(e => e.textContent)")
        assert len(moved) >= 2
        page.press("Undo")
        page.wait("r.dataset.version === '3'")
        assert page.order() == before
        page.press("Redo")
        page.wait("r.dataset.version === '4'")
        assert page.order() == after
        driver.get("about:blank")


def test_a_lasso_labels_rows(page):
    page.press("Lasso")
    table = page.server.send("open")["table"]
    spots = np.array([page.place(row) for row in (10, 13)])
    low, high = spots.min(axis=0) - 6, spots.max(axis=0) + 6
    ring = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    page.mouse(("mouseMoved", ring[0], 0), ("mousePressed", ring[0], 1), *(("mouseMoved", at, 1) for at in ring[1:]))
    page.driver.execute_cdp_cmd(
        "Input.dispatchMouseEvent",
        {"type": "mouseReleased", "x": ring[3][0], "y": ring[3][1], "button": "left", "clickCount": 1},
    )
    page.wait("document.querySelector('.fx-selection-text').textContent.startsWith('Selected')")
    field = page.driver.find_element("css selector", ".fx-selection .fx-input")
    field.send_keys("b\n")
    page.wait("r.dataset.version === '1'")
    answer = page.server.send("state")["answers"][0]
    assert answer["value"] == "b"
    assert {10, 13} <= set(answer["subjects"])
    places = dict(zip(table["rows"], table["places"], strict=True))
    inside = [row for row in places if all(low < np.array(page.place(row))) and all(np.array(page.place(row)) < high)]
    assert answer["subjects"] == sorted(inside)


def test_pin_ban_filter_and_a_feature_on_the_map(page):
    last = page.order()[-1]
    page.click(".fx-ranking tbody tr:last-child .fx-mini")
    page.wait("r.dataset.version === '1'")
    assert page.order()[0] == last
    second = page.order()[1]
    page.run("document.querySelector(`tr[data-feature='${arguments[0]}'] .fx-mini:last-child`).click()", second)
    page.wait("r.dataset.version === '2'")
    assert page.order()[-1] == second
    page.driver.find_element("css selector", ".fx-ranking-panel input").send_keys("GENE 5")
    page.wait("document.querySelectorAll('.fx-ranking tbody tr').length === 1")
    assert page.order() == [5]
    page.click(".fx-ranking .fx-link")
    page.wait("!document.querySelector('.fx-detail').hidden")
    assert page.text(".fx-detail h3") == "gene 5"
    assert "gene 5: low" in page.text(".fx-legend")
    page.press("Close")
    page.wait("document.querySelector('.fx-detail').hidden")


def test_lambda_slides(page):
    page.run(
        "const s = document.querySelector('.fx-settings select'); s.value = 'sselect';"
        "s.dispatchEvent(new Event('change'))"
    )
    page.wait("r.dataset.version === '1'")
    assert page.order() == fitted(page, "sselect")
    for version, lam in ((2, 0.6), (3, 1.0)):
        page.run(
            "const s = document.querySelector('input[aria-label^=\"λ\"]'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input'))",
            lam,
        )
        page.wait(f"r.dataset.version === '{version}'")
        assert page.order() == fitted(page, SSelect(lam=lam))
    page.run(
        "const s = document.querySelector('input[aria-label=\"Number of features\"]'); s.value = 5;"
        "s.dispatchEvent(new Event('input'))"
    )
    page.wait("r.dataset.version === '4'")
    assert page.run("return document.querySelectorAll('.fx-ranking tr.fx-selected').length") == 5


def test_everything_is_there_after_a_reload_and_a_restart(page, tmp_path):
    page.server.send("pair", rows=[12, 15], link="must")
    page.server.send("label", rows=[30, 33], label=HOSTILE)
    page.wait("r.dataset.version === '2'")  # the page hears of it
    before = page.order()
    answers = page.text(".fx-answers")
    page.press("Keep as A")
    page.wait("r.dataset.version === '3'")
    page.open()
    assert page.order() == before
    assert page.text(".fx-answers") == answers
    assert "sselect" not in page.text(".fx-snapshots")
    page.server.process.kill()
    page.server.process.wait(60)
    page.driver.get("about:blank")
    with running(tmp_path / "data.csv", *OPTIONS) as server:
        again = Page(page.driver, server, page.X, page.groups).open()
        assert again.order() == before
        assert again.text(".fx-answers") == answers
        assert "A:" in again.text(".fx-snapshots")
        page.driver.get("about:blank")
    page.driver.get_log("browser")  # the stream of the killed server ended with an error, as it should


def test_hostile_names_do_not_run(page):
    page.server.send("label", rows=[30], label=HOSTILE)
    page.server.send("pin", feature=0)
    page.wait("r.dataset.version === '2'")
    page.click(".fx-ranking .fx-link")
    page.wait("!document.querySelector('.fx-detail').hidden")
    assert HOSTILE in page.text(".fx-ranking")
    assert "</script><script>alert(2)" in page.text(".fx-ranking")
    assert HOSTILE in page.text(".fx-answers")
    assert page.run("return document.querySelectorAll('img, .fiedler-explore script').length") == 0
    at = page.place(2)
    page.mouse(("mouseMoved", at, 0))
    page.wait("document.querySelector('.fx-tip').textContent.includes('onerror')")


def test_questions_contradictions_and_classes(page):
    page.press("Ask me for a pair")
    page.wait("document.querySelector('.fx-selection-text').textContent.startsWith('Do these')")
    page.press("Same")
    page.wait("r.dataset.version === '1' && document.querySelector('.fx-selection-text').textContent.startsWith('Do')")
    page.run("document.querySelector('.fx-canvas').focus()")
    from selenium.webdriver import Keys

    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    for rows, link in (([40, 43], "must"), ([43, 46], "must"), ([40, 46], "cannot")):
        page.server.send("pair", rows=rows, link=link)
    page.wait("r.dataset.version === '4'")
    assert "Contradiction: rows s40 and s46" in page.text(".fx-left")
    assert page.run("return document.querySelectorAll('.fx-answers li.fx-wrong').length") == 1
    page.server.send("remove", answer=3)
    page.server.send("pair", rows=[40, 50], link="cannot")
    page.wait("r.dataset.version === '6'")
    page.click(".fx-close")
    page.wait("r.dataset.version === '7'")
    assert page.server.send("state")["labels"]["n_known"] > 9


def test_layout_curves_and_stability(page):
    page.run(
        "const s = document.querySelector('select[aria-label^=Layout]'); s.value = 'chosen';"
        "s.dispatchEvent(new Event('change'))"
    )
    page.wait()
    for row in range(10, 40):
        page.server.send("label", rows=[row], label=["a", "b", HOSTILE][row % 3])
    page.wait("r.dataset.version === '30'")
    page.press("Accuracy curve")
    page.wait("document.querySelectorAll('.fx-chart').length === 2")
    page.press("Stability")
    page.wait("document.querySelector('.fx-charts').textContent.includes('20 draws')")
    often = page.run("return [...document.querySelectorAll('.fx-stable')].map(e => parseInt(e.textContent))")
    assert len(often) == 8
    assert 295 <= sum(often) <= 305


def test_files(page, tmp_path):
    folder = tmp_path / "downloads"
    folder.mkdir()
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    page.server.send("pair", rows=[12, 15], link="must")
    page.wait("r.dataset.version === '1'")
    wanted = {"pairs": "pairs.csv", "labels": "labels.csv", "ranking": "ranking.csv", "script": "selection.py"}
    wanted |= {"command": "command.sh", "report": "report.html"}
    from selenium.webdriver.support.wait import WebDriverWait

    for what, name in wanted.items():
        page.click(f"[data-export={what}]")
        page.wait()
        WebDriverWait(page.driver, 60).until(lambda _, name=name: (folder / name).exists())
        if what != "report":  # which tells the time
            assert (folder / name).read_text(encoding="utf-8") == page.server.send("export", what=what)["text"]
    assert (folder / "pairs.csv").read_text() == "first,second,link\ns12,s15,must\n"
    rows = list(csv.DictReader(io.StringIO((folder / "ranking.csv").read_text(encoding="utf-8"))))
    names = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", *(f"gene {j}" for j in range(2, 8))]
    assert [row["feature"] for row in rows] == [names[j] for j in page.order()]
    assert "--pairs pairs.csv" in page.text(".fx-command")


def test_the_keyboard_reaches_rows_and_gives_a_pair(page):
    from selenium.webdriver import Keys

    page.run("document.querySelector('.fx-canvas').focus()")
    canvas = page.driver.switch_to.active_element
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ENTER)
    page.wait("document.querySelector('.fx-selection-text').textContent.startsWith('Selected')")
    for _ in range(30):  # the first row may lie at the border
        for key in (Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ARROW_DOWN):
            canvas.send_keys(key)
        canvas.send_keys(Keys.ENTER)
        if " and " in page.text(".fx-selection-text"):
            break
        canvas.send_keys(Keys.ARROW_RIGHT)
    canvas.send_keys("d")
    page.wait("r.dataset.version === '1'")
    assert page.server.send("state")["answers"][0]["value"] == "cannot"
    canvas.send_keys("u")
    page.wait("r.dataset.version === '2'")
    assert page.server.send("state")["answers"] == []
    canvas.send_keys("+", "-", "0")
    tab = [page.run("return document.activeElement.className")]
    for _ in range(12):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        tab.append(page.run("return document.activeElement.className + document.activeElement.textContent"))
    assert len(set(tab)) > 6  # one can leave the map


def test_a_row_is_found_by_its_name(page):
    from selenium.webdriver import Keys

    field = page.driver.find_element("css selector", "input[placeholder='Find a row']")
    field.send_keys("S42", Keys.ENTER)
    page.wait("document.querySelector('.fx-selection-text').textContent.includes('row s42')")
    field.clear()
    field.send_keys("nobody", Keys.ENTER)
    page.wait("document.querySelector('.fx-status').textContent.includes('nobody')")


def background(page):
    return page.run("return getComputedStyle(document.getElementById('explore')).backgroundColor")


def test_dark_follows_the_system_and_the_button(page):
    light = background(page)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [media("dark")]})
    dark = background(page)
    assert sum(map(int, dark[4:-1].split(", "))) < 150 < 600 < sum(map(int, light[4:-1].split(", ")))
    page.press("Dark or light")
    assert background(page) == light
    page.open()
    assert background(page) == light
    page.run("localStorage.clear()")


@pytest.mark.parametrize("width", [390, 820, 1280])
def test_nothing_overflows(page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 800}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.server.send("label", rows=[30, 31], label="a label that goes on and on " * 6)
    page.wait("r.dataset.version === '1'")
    page.click(".fx-ranking .fx-link")
    page.wait("!document.querySelector('.fx-detail').hidden")
    assert page.run("return document.documentElement.scrollWidth") <= width
    outside = page.run(
        "return [...document.querySelectorAll('.fiedler-explore *')].filter(e => !e.closest('.fx-scroll')"
        " && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML)"
    )
    assert outside == []
    frame, table = page.run("const f = document.querySelector('.fx-scroll'); return [f.clientWidth, f.scrollWidth]")
    assert table <= frame


def test_reduced_motion_moves_points_at_once(page):
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    assert page.run("return getComputedStyle(document.querySelector('.fx-fill')).transitionDuration") == "0s"


def test_a_stopped_server_is_told(page):
    page.server.process.terminate()
    page.server.process.wait(60)
    page.wait("r.dataset.ended === 'true'")
    assert "has stopped" in page.text(".fx-status")
    assert ".fiedler.json. To go on, start it again: fiedler explore " in page.text(".fx-status")
    page.run("document.querySelector('[aria-label^=Ban]').click()")
    page.wait("document.querySelector('.fx-status').textContent.includes('so this was not done')")
    assert "Failed to fetch" not in page.text(".fx-status")
    page.driver.get("about:blank")
    page.driver.get_log("browser")


def test_a_sample_is_said_and_all_rows_are_ranked_on_request(driver, tmp_path):
    path = tmp_path / "large.csv"
    X, groups = write_table(path, n=600)
    with running(path, *OPTIONS, "--rows", 100) as server:
        page = Page(driver, server, X, groups).open()
        assert "100 of 600 rows" in page.text(".fx-final")
        page.press("Rank all rows")
        page.wait("document.querySelector('.fx-final').textContent.includes('All rows:')")
        assert server.send("final_status")["ranking"]["order"] == fitted(page)
        driver.get("about:blank")


def test_the_map_of_20000_rows_is_drawn_in_time(driver, tmp_path):
    """No time is asserted; the frames are counted and the page must answer at all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4)) + np.repeat(4 * rng.normal(size=(5, 4)), 4000, axis=0)
    np.save(tmp_path / "many.npy", X)
    with running(tmp_path / "many.npy", "--rows", 20_000, "--method", "variance", "--top", 2) as server:
        page = Page(driver, server, X, np.repeat(np.arange(5), 4000)).open()
        frames = page.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; const c = document.querySelector('.fx-canvas');"
            "let n = 0; const begun = performance.now();"
            "const step = () => { n += 1; c.dispatchEvent(new WheelEvent('wheel', {deltaY: -5, bubbles: true}));"
            "if (n < 20) requestAnimationFrame(step); else done([n, performance.now() - begun]); };"
            "requestAnimationFrame(step)"
        )
        print("20 frames of 20,000 points took", round(frames[1]), "ms")
        assert frames[0] == 20
        driver.get("about:blank")


def test_messages_of_the_page_are_known():
    """Every type that the modules send is one that a session handles."""
    import re

    from fiedler.explore import session

    folder = Path(session.__file__).parent / "page"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.js"))
    sent = set(re.findall(r'type: "(\w+)"', text)) | set(re.findall(r'\? "(free)" : "(?:pin|ban)"', text))
    sent -= {"button", "search", "range"}  # of elements
    assert len(sent) > 10
    assert sent <= set(session.HANDLERS)
