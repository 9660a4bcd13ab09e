"""Opens every page of the built site in a browser: `python docs/check_site.py out/site`.

A page may log no error, ask no other server, show no broken picture, and have no dead link (anchors too). On a phone it
may not be wider than the screen, and no short name may be broken into two lines. The search must find something, served
and from disk. Without a browser only links are checked.
"""

import json
import shutil
import sys
import tempfile
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
DRIVER = shutil.which("chromedriver")
PHONE, DESK = (390, 844), (1280, 900)
QUIET = ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-background-networking")
WIDER = """
    const scrolls = e => e && e.tagName !== 'ARTICLE' && (/auto|scroll/.test(getComputedStyle(e).overflowX)
        || e.tagName === 'svg' || scrolls(e.parentElement));
    const page = document.documentElement, wide = e => e.getBoundingClientRect().right > innerWidth + 1;
    const out = [...document.querySelectorAll('article *')].filter(e => wide(e) && !scrolls(e));
    const all = page.scrollWidth > innerWidth ? [`${page.scrollWidth} px wide`] : [];
    return [...all, ...out.slice(0, 3).map(e => e.tagName + '.' + e.className)];
"""
SPLIT = """
    const whole = e => !/\\s/.test(e.textContent) && e.textContent.length <= 16;
    const names = [...document.querySelectorAll('article dl.field-list dt strong, article td code')].filter(whole);
    const lines = e => { const r = document.createRange(); r.selectNodeContents(e); return r.getClientRects(); };
    const broken = e => new Set([...lines(e)].map(line => Math.round(line.bottom))).size > 1;
    return [...new Set(names.filter(broken).map(e => e.textContent))].slice(0, 3);
"""
BROKEN = "return [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"


class Page(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = {"", "top"}, set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.add(found["href"])


def dead_links(site):
    """``page: link`` for each link inside the site that leads nowhere."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            target, anchor = urldefrag(urljoin(path.as_uri(), link))
            if urlsplit(target).scheme != "file":
                continue
            there = Path(unquote(urlsplit(target).path))
            if not there.is_file() or (there in pages and unquote(anchor) not in pages[there].ids):
                yield f"{path.relative_to(site)}: {link}"


class Quiet(SimpleHTTPRequestHandler):
    """Serves the site and says nothing."""

    def log_message(self, *message):
        pass


def open_browser(profile):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (*QUIET, f"user-data-dir={profile}"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.get("about:blank")
    driver.get_log("performance")  # of the page the browser starts with
    return driver


def show(driver, size):
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def requests(driver):
    """The addresses asked for since the last call."""
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


def look(driver, address, home):
    """What is wrong with one page."""
    show(driver, DESK)
    driver.get(address)
    yield from (f"console: {entry['message']}" for entry in driver.get_log("browser") if entry["level"] == "SEVERE")
    yield from (f"asks for {url}" for url in requests(driver) if not url.startswith((home, "data:", "blob:")))
    yield from (f"broken picture {url}" for url in driver.execute_script(BROKEN))
    show(driver, PHONE)
    yield from (f"on a phone: {what}" for what in driver.execute_script(WIDER))
    yield from (f"on a phone: {name} is broken into two lines" for name in driver.execute_script(SPLIT))


def search_finds(driver, home, word):
    """Whether the search page lists something for a word."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get(f"{home}/search.html?q={word}")
    try:
        WebDriverWait(driver, 10).until(lambda d: d.find_elements(By.CSS_SELECTOR, "#search-results li a"))
    except Exception:
        return False
    return True


def wrong_in_browser(site):
    """``page: what`` for all that a browser sees."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as profile:
        driver = open_browser(profile)
        try:
            for path in sorted(site.rglob("*.html")):
                name = path.relative_to(site).as_posix()
                if not name.startswith("_static"):
                    yield from (f"{name}: {what}" for what in look(driver, f"{home}/{name}", home))
            for place in (home, site.as_uri()):
                if not search_finds(driver, place, "laplacian"):
                    yield f"{place}: the search finds nothing"
        finally:
            driver.quit()
            server.shutdown()


def main(folder):
    site = Path(folder).resolve()
    wrong = list(dead_links(site))
    if BROWSER and DRIVER:
        wrong += wrong_in_browser(site)
    else:
        print("No chromium with chromedriver here: only the links are checked.")
    pages = sum(1 for _ in site.rglob("*.html"))
    print(*wrong, f"{pages} pages, {len(wrong)} faults.", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
