"""A report in a real browser: nothing from data runs, nothing is asked for, nothing is complained about."""

import importlib.util
import shutil

import numpy as np
import pytest

from rosenblatt import Perceptron, Report
from rosenblatt.datasets import separable

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"), pytest.mark.long]

EVIL = ["<script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    X, y = separable(60, 2, 0.1, seed=2)
    labels = np.array(EVIL)[(y > 0).astype(int)]
    target = tmp_path_factory.mktemp("report") / "report.html"
    Report(Perceptron().fit(X, labels), X, labels, title=EVIL[0], feature_names=EVIL).save(target)
    return target


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def test_labels_are_inert_and_nothing_is_loaded(browser, path):
    page, said, asked = browser.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    if importlib.util.find_spec("rosenblatt.lab") is not None:
        frame = page.frame_locator("#lab-frame")
        frame.locator("html[data-ready='1']").wait_for(state="attached")
    assert page.title() == EVIL[0]
    assert page.locator("h1").inner_text() == EVIL[0]
    assert page.locator("td", has_text="onerror").count() > 0
    assert not said
    assert asked == [path.as_uri()]


def test_the_page_prints_without_the_run(browser, path):
    page = browser.new_page()
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    assert not page.locator(".screen").is_visible() if page.locator(".screen").count() else True
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_nothing_is_wider_than_a_small_screen(browser, path):
    page = browser.new_page(viewport={"width": 600, "height": 900})
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 600
