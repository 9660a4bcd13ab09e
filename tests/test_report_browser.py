"""The report in a real browser: no error, no request, a table that sorts and filters, hostile names, dark, narrow."""

import json
import signal

import numpy as np
import pytest
from browsing import NEEDS_BROWSER, asked_for, browser, limit, media

from fiedler import SpectralSelector
from fiedler.evaluate import compare, stability

pytestmark = NEEDS_BROWSER
HOSTILE = "<script>alert(1)</script>"
LONG = "a name that goes on and on, so that it is cut in the table and whole where one points at it"


@pytest.fixture(autouse=True)
def limited():
    with limit(120):
        yield


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    pytest.importorskip("jinja2", reason="needs the extra 'report'")
    from fiedler.report import summarize, write_html

    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 400)) + np.outer(y, np.linspace(2, 0, 400))
    names = [HOSTILE, "</script><img src=x onerror=alert(2)>", *(f"gene {j:03d}" for j in range(2, 399)), LONG]
    classes = np.array([HOSTILE, "b", "c"], dtype=object)[y]
    selector = SpectralSelector("fisher", n_features_to_select=20).fit(X, classes)
    drawn = stability("fisher", X, classes, k=20, n_draws=4)
    compared = compare(["fisher"], X, classes, n_features=[2, 5, 10], n_draws=2, n_labels=9, n_jobs=1)
    summary = summarize(selector, X, classes, feature_names=names, stability=drawn, comparison=compared)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_html(path, summary).as_uri()


@pytest.fixture
def page(driver, address):
    """The page, freshly opened in a wide light window."""
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [media("light")]})
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.get(address)
    driver.execute_script("localStorage.clear()")
    driver.get(address)
    return driver


def rows(page, what="th"):
    return page.execute_script(
        f"return [...document.querySelectorAll('#ranking tbody tr {what}')].map(e => e.textContent)"
    )


def click(page, selector):
    page.execute_script(f"document.querySelector({json.dumps(selector)}).click()")


def tip_at(page, element):
    """The text of the tip that appears where one points at an element."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.support.wait import WebDriverWait

    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)

    def pointed(page):  # a scroll hides the tip and may be told late: then one points again
        actions = ActionChains(page)
        actions.w3c_actions.pointer_action.move_to_location(1, 1)
        actions.move_to_element(element).perform()
        return page.find_element("id", "tip").text

    return WebDriverWait(page, 20).until(pointed)


def background(page):
    return page.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_what_hangs_is_stopped():
    with pytest.raises(TimeoutError, match="within 1 seconds"), limit(1):
        signal.pause()


def test_opens_without_error_or_request(driver, address):
    driver.get_log("performance"), driver.get_log("browser")
    driver.get(address)
    driver.execute_script(
        "window.dispatchEvent(new Event('beforeprint')); window.dispatchEvent(new Event('afterprint'))"
    )
    assert driver.get_log("browser") == []
    asked, failed = asked_for(driver)
    assert asked <= {address, "data:,"}
    assert not failed


def test_hostile_names_show_as_text(page):
    assert HOSTILE in rows(page)
    assert page.execute_script("return document.querySelectorAll('script').length") == 2
    assert page.execute_script("return document.querySelectorAll('img').length") == 0
    assert page.execute_script("return document.querySelector('#data .classes').textContent").count(HOSTILE) == 1
    shown = page.execute_script("return document.querySelector('#redundancy svg').textContent")
    assert "<script>" in shown


def test_table_sorts(page):
    ranks = [int(r) for r in rows(page, "td.rank")]
    assert ranks == list(range(1, 301))
    click(page, "th[data-key=rank] button")
    assert int(rows(page, "td.rank")[0]) == 400
    assert page.execute_script("return document.querySelector('th[data-key=rank]').ariaSort") == "descending"
    click(page, "th[data-key=name] button")
    found = rows(page)
    assert found == sorted(found)
    click(page, "th[data-key=score] button")
    scores = [float(s) for s in rows(page, "td.score")]
    assert scores == sorted(scores)
    click(page, "th[data-key=often] button")
    often = [int(s.split()[0]) for s in rows(page, "td.often")]
    assert often == sorted(often, reverse=True)
    states = page.execute_script("return [...document.querySelectorAll('th[aria-sort]')].map(h => h.ariaSort)")
    assert states == ["none", "none", "none", "descending"]


def test_table_filters(page):
    search = page.find_element("id", "search")
    search.send_keys("GENE 01")
    found = rows(page)
    assert sorted(found) == [f"gene {j:03d}" for j in range(10, 20)]
    assert page.find_element("id", "count").text == "10 match; 10 of 400 features shown"
    search.clear()
    search.send_keys("<script")
    assert HOSTILE in rows(page)
    search.clear()
    search.send_keys(" ")
    page.find_element("id", "only").click()
    assert len(rows(page)) == 20
    page.find_element("id", "only").click()
    page.find_element("id", "more").click()
    assert len(rows(page)) == 400
    assert not page.find_element("id", "more").is_displayed()


def test_the_table_is_there_without_the_script(driver, address):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(address)
        assert len(driver.find_elements("css selector", "#ranking tbody tr")) == 300
        assert not driver.find_element("id", "tools").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_dark_follows_the_system_and_the_button(page):
    from selenium.webdriver.support.wait import WebDriverWait

    light = background(page)
    ink = page.execute_script("return getComputedStyle(document.querySelector('#suggestions svg text')).fill")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [media("dark")]})
    dark = background(page)
    assert sum(map(int, dark[4:-1].split(", "))) < 150 < 600 < sum(map(int, light[4:-1].split(", ")))
    assert page.execute_script("return getComputedStyle(document.querySelector('#suggestions svg text')).fill") != ink
    page.find_element("id", "theme").click()
    WebDriverWait(page, 20).until(lambda page: background(page) == light)  # a busy browser paints it later
    page.refresh()
    WebDriverWait(page, 20).until(lambda page: background(page) == light)  # the choice is kept


def test_a_mark_tells_its_value(page):
    from selenium.webdriver.support.wait import WebDriverWait

    left = "return document.querySelectorAll('.mark > title').length"
    WebDriverWait(page, 20).until(lambda page: page.execute_script(left) == 0)  # a reloaded page moves them again
    mark = page.find_element("css selector", "#graph .below .mark")
    assert tip_at(page, mark).startswith("eigenvalue ")


def test_keyboard_reaches_the_headers(page):
    from selenium.webdriver import Keys

    page.find_element("css selector", "th[data-key=name] button").send_keys(Keys.ENTER)
    assert page.execute_script("return document.querySelector('th[data-key=name]').ariaSort") == "ascending"


@pytest.mark.parametrize("width", [320, 390, 820, 1280])
def test_nothing_overflows(page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 800}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    outside = page.execute_script(
        "return [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, .table-frame, nav')"
        " && !e.closest('.visually-hidden') && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML)"
    )
    assert outside == []


def test_a_phone_shows_bars_and_remarks_below_the_names(page):
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    boxes = page.execute_script(
        "return [...document.querySelectorAll('#ranking tbody tr')].slice(0, 20).map(row => Object.fromEntries("
        "['th.name', 'td.score', 'td.bar .track', 'td.often', 'td.note'].map(what => ["
        "what, row.querySelector(what).getBoundingClientRect().toJSON()])))"
    )
    for box in boxes:
        assert box["td.bar .track"]["width"] >= 72
        assert box["td.bar .track"]["top"] >= box["th.name"]["bottom"] - 1
        assert box["td.note"]["height"] > 0
        assert box["td.note"]["top"] >= box["td.bar .track"]["bottom"] - 1
        assert box["td.score"]["right"] <= 390
    for frame in ("#features .table-frame", "#comparison .scroll", "#graph .scroll"):
        wide, inner = page.execute_script(
            f"const f = document.querySelector('{frame}'); return [f.clientWidth, f.scrollWidth]"
        )
        assert inner <= wide, frame
    labels = page.execute_script(
        "return [...document.querySelectorAll('#graph table.stack td')]"
        ".map(c => getComputedStyle(c, '::before').content)"
    )
    assert '"Rows"' in labels


def test_a_cut_name_shows_whole_on_hover(page):
    page.find_element("id", "search").send_keys("a name that goes on")
    (cut,) = page.find_elements("css selector", "#ranking tbody th")
    assert len(cut.text) == 60
    assert cut.text.endswith("…")
    assert tip_at(page, cut) == LONG


@pytest.mark.parametrize("width", [390, 1280])
def test_small_figures_do_not_overlap(page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 800}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    boxes = page.execute_script(
        "return [...document.querySelectorAll('#distributions .many figure')]"
        ".map(f => f.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) == 12
    for at, a in enumerate(boxes):
        for b in boxes[:at]:
            apart = a["left"] >= b["right"] or b["left"] >= a["right"] or a["top"] >= b["bottom"]
            assert apart or b["top"] >= a["bottom"]
