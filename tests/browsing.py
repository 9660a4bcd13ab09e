"""A real browser for tests: where it is, how it is started, and a limit of the time that it may take."""

import json
import shutil
import signal
from contextlib import contextmanager

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
DRIVER = shutil.which("chromedriver")
NEEDS_BROWSER = [
    pytest.mark.skipif(not BROWSER or not DRIVER, reason="needs chromium and chromedriver"),
    pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs alarms, which limit the time of a test"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@contextmanager
def limit(seconds):
    """Stop what takes longer: a browser that does not answer must not hold up the suite."""

    def stop(number, frame):
        raise TimeoutError(f"the browser did not answer within {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def browser(profile):
    """A browser without a window, with logs of its console and its requests; it is closed at the end."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium, in the extra 'dev'")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    quiet = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
    )
    for argument in (*quiet, "--window-size=1280,1600", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with limit(120):
        started = webdriver.Chrome(options=options, service=Service(DRIVER))
    started.set_page_load_timeout(60)
    started.set_script_timeout(30)
    yield started
    with limit(60):
        started.quit()


def asked_for(driver):
    """Addresses that were requested since the log was read last, and requests that failed."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    return asked, [e for e in events if e["method"] == "Network.loadingFailed"]


def media(theme):
    return {"name": "prefers-color-scheme", "value": theme}
