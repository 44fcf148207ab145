"""A browser without a display for tests, and what the page of a run says of itself there."""

import contextlib
import shutil
import time

import pytest

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1280,800",
)
PATIENCE = 60.0  # s


@contextlib.contextmanager
def browser(folder):
    """Chromium with an empty profile in ``folder``; skips the test where it, or its driver, is missing."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for option in (*OPTIONS, f"--user-data-dir={folder}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(programs[1]))
    try:
        yield driver
    finally:
        driver.quit()


class Shown:
    """The page at an address in a browser."""

    def __init__(self, driver, address):
        self.driver = driver
        driver.get(address)
        self.wait(lambda state: state["frames"] > 0)

    @property
    def state(self):
        return self.driver.execute_script("return typeof varintView === 'undefined' ? null : varintView.state()")

    def wait(self, holds):
        """The first state that is drawn, or on its way, for which ``holds``."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            state = self.state
            if state and (state["settled"] or state["playing"]) and holds(state):
                return state
            time.sleep(0.05)
        raise AssertionError(f"not within {PATIENCE:g} s: {state}")

    def click(self, selector):
        self.driver.execute_script("document.querySelector(arguments[0]).click()", selector)

    def scrub(self, t):
        """Move the slider to a time, s."""
        script = (
            "const s = document.getElementById('scrub'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"
        )
        self.driver.execute_script(script, t)
        return self.wait(lambda state: abs(state["shown"] - t) < 1e-6)

    def press(self, key, **more):
        script = (
            "window.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true, ...arguments[1]}))"
        )
        self.driver.execute_script(script, key, more)

    def check_no_errors(self):
        """None in the console, none told by the page; what the drawing driver says of its speed is none."""
        told = [entry for entry in self.driver.get_log("browser") if "GL Driver Message" not in entry["message"]]
        assert not told
        assert not self.state["errors"]
