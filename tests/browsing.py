"""A real browser for tests of pages: what it complains of, and what it asks for."""

import json
import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1400,1000",
)


def absent(reason):
    """Skip, except where continuous integration has promised a browser."""
    if os.environ.get("CI_BROWSER") == "1":
        pytest.fail(f"CI_BROWSER=1 promises a browser, and {reason}")
    pytest.skip(reason)


def open_browser(profile):
    """A browser that keeps its logs, with a folder of its own for whatever it stores."""
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        absent("there is no Chromium with its driver here")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        absent("the package selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))


def open_afresh(browser, address):
    """Open a page; nothing of what was opened before is in the logs."""
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(address)
    return browser


def complaints(page):
    """Return the console messages of the page above the debug level."""
    return [entry for entry in page.get_log("browser") if entry["level"] != "DEBUG"]


def requests(page):
    """Return the addresses that the page has requested; embedded content (data:) is ignored."""
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in asked if not url.startswith("data:")]


CONTRASTS = """
    const colour = (value) => {
        const box = document.createElement('canvas').getContext('2d');
        box.fillStyle = value; box.fillRect(0, 0, 1, 1);
        return Array.from(box.getImageData(0, 0, 1, 1).data);
    };
    const light = (c) => c.slice(0, 3).map(v => v / 255)
        .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, k) => sum + v * [.2126, .7152, .0722][k], 0);
    const ground = (node) => {
        for (; node; node = node.parentElement) {
            const c = colour(getComputedStyle(node).backgroundColor);
            if (c[3] === 255) return c;
        }
        return [255, 255, 255, 255];
    };
    return arguments[0].map(selector => {
        const node = document.querySelector(selector);
        const a = light(colour(getComputedStyle(node).color)), b = light(ground(node));
        return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    });
"""


def contrasts(page, selectors):
    """Return the contrast ratio, from 1 to 21, of the first text that each selector matches."""
    return page.execute_script(CONTRASTS, selectors)
