"""The page in a real browser: what it shows is what the engine recorded, whatever is done to it."""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pages_engine import answers
from rosenblatt import AdalineRegressor, KernelPerceptron, learner, record, trace
from rosenblatt.datasets import logical
from rosenblatt.lab.catalogue import learner_names, polynomial
from rosenblatt.lab.frames import Frames, frames, record_scene
from rosenblatt.lab.page import export_lab, one_file
from rosenblatt.lab.scene import Scene
from rosenblatt.lab.theory import proof_of
from scenes import PER_LEARNER, random_scene

STATIC = Path(__file__).parents[2] / "src" / "rosenblatt" / "lab" / "static"
RUNS_OF_THE_SITE = Path(__file__).parents[2] / "docs" / "static" / "runs.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = os.environ.get("ROSENBLATT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
KEY = "key"
PATIENCE_MS = 120_000  # with a busy machine

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt install chromium, or set ROSENBLATT_CHROMIUM"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="minutes long without compilation"),
]


# ------------------------------------------------------------------------------------------------------- the fixtures


@pytest.fixture(scope="module")
def address():
    """A server on this machine."""
    for name in ("starlette", "uvicorn"):
        pytest.importorskip(name, reason="the page needs a server: pip install rosenblatt[lab]")
    import uvicorn

    from rosenblatt.lab.server import create_app

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(create_app(KEY), log_level="error", access_log=False, ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/{KEY}/"
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright", reason="the tests in a browser need playwright: pip install --group browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


class Lab:
    """A page of the lab, which may say nothing to the console and ask no other host."""

    def __init__(self, context, address):
        self.page, self.address, self.faults, self.refused = context.new_page(), address, [], False
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", lambda message: self._said(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))

    def _said(self, text):
        if not (self.refused and "400" in text):  # the browser itself mentions a refusal
            self.faults.append(text)

    def _asked(self, url):
        if not url.startswith((self.address, "data:", "blob:")):
            self.faults.append(url)

    def open(self, hash=""):
        self.page.goto(f"{self.address}#{hash}")
        self.page.wait_for_selector("#lab[data-ready]")
        return self

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, selector):
        return (self.page.locator(selector).first.text_content() or "").replace("\u2212", "-")

    @property
    def sentence(self):
        """What a screen reader is told."""
        return self.page.locator(".say [role=status]").text_content().replace("\u2212", "-")

    def value(self, expression):
        """Return a value from the page, where `lab` is the lab and `$` finds an element."""
        names = "const $ = (css) => document.querySelector(css), lab = $('#lab').lab;"
        return self.page.evaluate(f"(() => {{ {names} return {expression}; }})()")

    def wait(self, expression):
        """Wait until an expression is true. Playwright's own way needs eval, which the page's policy forbids."""
        end = time.monotonic() + PATIENCE_MS / 1000
        while not self.value(expression):
            assert time.monotonic() < end, f"{expression} did not become true"
            self.page.wait_for_timeout(20)

    @property
    def t(self):
        return self.value("lab.t")

    def centre(self, selector, k=0):
        box = self.page.locator(selector).nth(k).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.fixture
def context(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    yield context
    context.close()


@pytest.fixture
def lab(context, address):
    lab = Lab(context, address)
    yield lab
    assert not lab.faults


@pytest.fixture(scope="module")
def bench(browser, address):
    """One page for the laws of the modules, which change nothing on it."""
    context = browser.new_context()
    lab = Lab(context, address).open()
    yield lab.page
    context.close()
    assert not lab.faults


def call(page, module, expression, argument=None):
    """Evaluate an expression of a module `m` and an argument `a`."""
    code = f"async (a) => {{ const m = await import('/{KEY}/static/{module}.js'); return {expression}; }}"
    return page.evaluate(code, argument)


# ------------------------------------------------------------------------------------- the page shows the engine's run

READ = """async (text) => {
  const m = await import("./static/frames.js");
  const run = m.readRun(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const problems = [...Array(run.k).keys()];
  return [...Array(run.ended).keys()].map((k) => {
    const f = m.frameAt(run, k + 1);
    const weights = run.slot ? [] : problems.flatMap((p) => [...m.weightsOf(run, f.state, p)]);
    return [f.row, f.epoch, f.mistake, f.update, f.mistakes, f.loss, [...f.scores], weights];
  });
}"""


@pytest.mark.parametrize("name", [name for name in learner_names() if name != "MaximumMargin"])
def test_every_trial_on_the_page_is_the_engines(bench, name):
    for seed in range(PER_LEARNER):
        scene = random_scene(name, seed)
        content = frames(scene).to_bytes()
        shown = bench.evaluate(READ, base64.b64encode(content).decode())
        recording = record_scene(scene).recording
        assert [frame[0] for frame in shown] == recording.row.tolist()
        assert [frame[1] for frame in shown] == recording.epoch.tolist()
        assert [frame[2] for frame in shown] == (recording.mistakes > 0).tolist()
        assert [frame[3] for frame in shown] == (recording.updates > 0).tolist()
        per_row = np.where(recording.row < 0, recording.mistakes, recording.mistakes > 0)
        if scene.features == "units" or scene.order == "random":  # the page does not know the rows of such a batch
            per_row = recording.mistakes > 0
        assert [frame[4] for frame in shown] == np.cumsum(per_row).tolist()
        np.testing.assert_array_equal([frame[5] for frame in shown], recording.loss)
        np.testing.assert_array_equal(np.array([f[6] for f in shown], float), recording.score)
        if not scene.traits.kernel:
            W = np.concatenate([recording.W, recording.b[:, :, None]], axis=2)[recording.at]
            np.testing.assert_array_equal([frame[7] for frame in shown], W.reshape(len(W), -1))


SURFACE = """async (text) => {
  const m = await import("./static/frames.js");
  const read = () => m.readRun(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const [run, fresh] = [read(), read()];
  const middle = Math.floor(run.trials / 2);
  m.frameAt(run, run.trials);
  const back = [...m.frameAt(run, middle).fs[0]];
  const once = [...m.frameAt(fresh, middle).fs[0]];
  return [back, once, [...m.frameAt(run, run.trials).fs[0]]];
}"""


@pytest.mark.parametrize("text", ["data=moons&n=20&learner=KernelPerceptron", "data=circle&n=20&features=quadratic"])
def test_a_surface_is_the_same_forwards_and_backwards_and_ends_at_the_estimators(bench, text):
    scene = Scene.from_query(text)
    run = frames(scene)
    back, once, end = map(np.array, bench.evaluate(SURFACE, base64.b64encode(run.to_bytes()).decode()))
    np.testing.assert_allclose(back, once, atol=1e-5)
    left, right, bottom, top = run.about["box"]
    across, up = np.linspace(left, right, run.about["grid"]), np.linspace(bottom, top, run.about["grid"])
    grid = np.array([(x, y) for y in up for x in across])
    model = record_scene(scene)
    rows = model.feature_map(grid)
    last = {"aggregate": "last"} if "Kernel" in scene.learner else {}
    expected = model.estimator.decision_function(rows, **last)
    np.testing.assert_allclose(end, expected, atol=1e-4)


@pytest.mark.parametrize("name", ["or", "and"])
def test_every_step_says_what_the_oracle_says(lab, name):
    lab.open(f"data={name}")
    X, y = logical(name)
    for trial in trace(X, y):
        lab.press("ArrowRight")
        margin = f"y f(x) = {trial.label * trial.score + 0.0:g}"
        side = "misclassified" if trial.mistake else "on its side"
        assert lab.sentence.startswith(f"x{trial.row + 1} is {side}: {margin}")
        if trial.mistake:
            assert f"= ({trial.w[0]:g}, {trial.w[1]:g})" in lab.sentence
        now = [
            float(cell.replace("\u2212", "-")) for cell in lab.page.locator(".numbers td:last-child").all_inner_texts()
        ]
        assert now == [*trial.w, trial.b]
    assert lab.t == lab.value("lab.run.trials")
    assert "every row is on its side" in lab.text(".say .end").lower()


# -------------------------------------------------------------------------------------------------- time


def test_the_first_screen_plays_or_on_space(lab):
    lab.open()
    assert lab.sentence.startswith("Four points, two classes. The weights are zero, so every point is a tie")
    assert lab.page.locator(".pattern .point").count() >= 4
    lab.page.locator(".speed select").select_option("512")
    lab.press(" ")
    lab.wait("lab.t === 24")
    assert "The end" in lab.text(".say .end")


def test_weights_of_zero_are_in_the_middle_of_the_sphere(lab):
    lab.open()
    centre = """(node) => {
        const box = node.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }"""
    weights, globe = (lab.page.locator(f".ball {kind}").evaluate(centre) for kind in (".now.zero", ".globe"))
    assert weights == pytest.approx(globe, abs=1)


def test_time_runs_by_trials_updates_and_epochs_both_ways(lab):
    lab.open("data=or")
    seen = []
    for key in ("ArrowRight", "Shift+ArrowRight", "]", "]", "[", "ArrowLeft", "Shift+ArrowLeft", "End", "Home"):
        lab.press(key)
        seen.append(lab.t)
    assert seen == [1, 2, 4, 8, 4, 3, 2, 24, 0]
    lab.press("End", "+", "+", "+", "+", "+", "+", "+", "r")
    lab.wait("lab.t === 0")
    lab.page.locator(".time input").fill("9")
    assert lab.t == 9
    assert "trial 9 of 24, epoch 3, mistake on x1" in lab.page.locator(".time input").get_attribute("aria-valuetext")


def test_the_voice_is_silent_while_playing_and_motion_can_be_reduced(browser, address):
    context = browser.new_context(reduced_motion="reduce")
    lab = Lab(context, address).open("data=overlap&n=60")
    lab.page.evaluate(
        """() => { window.told = 0; window.at = [];
        new MutationObserver(() => window.told++).observe(document.querySelector(".say [role=status]"),
          { childList: true, characterData: true, subtree: true });
        new MutationObserver(() => window.at.push(document.querySelector("#lab").lab.t))
          .observe(document.querySelector(".count"), { childList: true }); }"""
    )
    lab.press(" ")
    lab.wait("window.at.length >= 3")
    assert lab.page.evaluate("window.told") == 0
    lab.press(" ")
    lab.wait("window.told > 0")
    assert lab.value("window.at.every((t) => t === 0 || (lab.run.mistake[t - 1] & 3))")
    context.close()
    assert not lab.faults


# ------------------------------------------------------------------------------------------------------------- editing


def test_points_are_drawn_dragged_flipped_removed_and_all_of_it_undone(lab):
    lab.open("data=or")
    page, marks = lab.page, lab.page.locator(".pattern .layer-points .point")
    x, y = lab.centre(".pattern svg.plane")
    page.mouse.click(x, y)
    lab.wait("lab.run.n === 5")
    assert marks.count() == 5
    first = lab.value("lab.scene.points[4]")
    assert first[2] == 1
    assert all(round(v * 100) / 100 == v for v in first)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 40, steps=5)
    page.mouse.up()
    lab.wait("lab.run.X[8] === lab.scene.points[4][0]")
    moved = lab.value("lab.scene.points[4]")
    assert moved[0] < first[0]
    assert moved[1] > first[1]
    marks.nth(4).focus()
    lab.press("f")
    assert lab.value("lab.scene.points[4][2]") == 0
    lab.press("ArrowLeft")
    assert lab.value("lab.scene.points[4][0]") < moved[0]
    lab.press("Delete")
    lab.wait("lab.run.n === 4")
    page.locator("#lab").evaluate("() => document.activeElement.blur()")
    for _ in range(6):
        lab.press("z")
    lab.wait("lab.scene.data === 'or'")
    lab.wait("lab.run.n === 4")


def test_while_dragging_one_request_is_under_way_and_the_newest_wins(lab):
    lab.open("data=clouds&n=24&learner=AROW")  # which the page's own engine lacks
    running, most, made = set(), [0], [0]

    def began(request):
        if request.url.endswith("/run"):
            running.add(request)
            most[0], made[0] = max(most[0], len(running)), made[0] + 1

    lab.page.on("request", began)
    lab.page.on("requestfinished", lambda request: running.discard(request))
    x, y = lab.centre(".pattern .layer-points .point", 3)
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    for k in range(20):
        lab.page.mouse.move(x + 2 * k, y + k)
        lab.page.wait_for_timeout(15)
    lab.page.mouse.up()
    lab.wait("lab.run.X[6] === lab.scene.points[3][0] && lab.run.X[7] === lab.scene.points[3][1]")  # fmt: skip
    assert most[0] == 1
    assert made[0] >= 2


def test_the_start_is_dragged_with_the_boundary_and_with_w_itself(lab):
    lab.open("data=or&t=24")
    x, y = lab.centre(".pattern circle.handle.tip")
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x + 30, y + 60, steps=4)
    lab.page.mouse.up()
    same = "lab.scene.start && lab.scene.start.every((v, j) => lab.run.W[j] === v)"
    lab.wait(same)
    assert lab.t == 0
    turned = lab.value("lab.scene.start")
    x, y = lab.centre(".weights circle.now.handle")
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x + 50, y + 30, steps=4)
    lab.page.mouse.up()
    lab.wait(f"lab.scene.start[0] !== {turned[0]}")
    lab.wait(same)


def test_a_table_is_pasted_and_its_labels_are_only_text(lab):
    lab.open()
    lab.page.locator("details[data-part=settings] summary").click()
    lab.page.get_by_role("button", name="Paste or open a table").click()
    rows = [
        "a,b,label",
        "0,0,<img src=x onerror=alert(1)>",
        "1,0.5,yes",
        "0.5,2,yes",
        "3,1,<script>alert(1)</script>",
        "2,2,yes",
    ]
    lab.page.locator("dialog[open] textarea").fill("\n".join(rows))
    lab.page.get_by_role("button", name="Use these points").click()
    lab.wait("lab.run.n === 5")
    assert lab.value("lab.run.about.classes.length") == 3
    assert lab.page.locator("img").count() == 0


# --------------------------------------------------------------------------------------------- learners and settings


def test_the_learner_its_parameters_and_the_data_are_chosen(lab):
    lab.open("data=or")
    lab.page.get_by_label("learner").first.select_option("PassiveAggressive")
    lab.wait("lab.run.about.rule === 'passive_aggressive'")
    lab.press("ArrowRight")
    assert "aggressive" in lab.sentence
    lab.page.locator("details[data-part=settings] summary").click()
    lab.page.locator(".settings").get_by_label("C", exact=False).first.fill("0")
    lab.wait("lab.run.about.scene.params.C === 0.01")
    lab.page.locator("details[data-part=settings] summary").click()
    lab.page.get_by_label("data").first.select_option("clouds")
    lab.wait("lab.run.n === 60")
    lab.page.get_by_label("order").first.select_option("shuffled")
    lab.wait("lab.run.about.scene.order === 'shuffled'")


def test_a_learner_of_ones_own_is_one_of_the_lab(lab):
    @learner
    def Relaxation(margin, norm, overshoot=1.0):  # noqa: N802 (it becomes a class)
        return (0.0, 0.0) if margin >= 1.0 else (overshoot * (1.0 - margin) / norm, 1.0 - margin)

    lab.open("data=or&learner=Relaxation&param.overshoot=1.5&t=1&race=Perceptron:cyclic")
    lab.wait("lab.run.about.rule === 'own' && lab.run.about.scene.params.overshoot === 1.5")
    assert "The rule moves the weights" in lab.sentence
    lab.page.locator("details[data-part=settings] summary").click()
    lab.page.locator(".settings").get_by_label("overshoot", exact=False).first.fill("0")
    lab.wait("lab.run.about.scene.params.overshoot === 0")


@pytest.mark.parametrize("data", ["clouds", "four", "spam"])
def test_every_learner_can_be_looked_at(lab, data):
    lab.open(f"data={data}")
    for name in learner_names():
        controls = "" if data == "spam" else "&n=12"
        lab.page.evaluate(f"location.hash = 'data={data}{controls}&learner={name}&epochs=5&t=7'")
        lab.wait(f"lab.run.about.scene.learner === '{name}' && lab.scene.learner === '{name}'")
        assert lab.page.locator("#lab").get_attribute("data-ready") == "true"
        assert lab.sentence.strip()
        lab.press("End", "Home", "ArrowRight")


def test_regions_of_classes_hold_the_points_that_the_scores_give_them(lab):
    lab.open("data=four&n=40&t=100000")
    inside = lab.page.evaluate(
        """() => { const { run } = document.querySelector("#lab").lab;
        const svg = document.querySelector(".pattern svg.plane");
        const regions = [...svg.querySelectorAll(".region")], marks = [...svg.querySelectorAll(".layer-points .point")];
        const last = run.states - 1, c = run.about.classes.length;
        return marks.map((mark, i) => {
          const at = new DOMPoint(0, 0).matrixTransform(mark.getCTM()).matrixTransform(svg.getCTM().inverse());
          const x = [run.X[2 * i], run.X[2 * i + 1], 1];
          const score = (k) => x.reduce((sum, v, j) => sum + run.E[(last * c + k) * 3 + j] * v, 0);
          const best = [...Array(c).keys()].sort((p, q) => score(q) - score(p))[0];
          return regions[best].isPointInFill(at); }); }"""
    )
    assert len(inside) == 40
    assert all(inside)


@pytest.mark.parametrize("data", ["three&n=30", "four&n=40", "four&n=40&noise=1"])
def test_regions_by_votes_hold_the_points_that_the_estimator_gives_them(lab, data):
    query = f"data={data}&param.multiclass=ovo-vote&epochs=4"
    lab.open(f"{query}&t=100000")
    inside = lab.page.evaluate(
        """() => { const svg = document.querySelector(".pattern svg.plane");
        const regions = [...svg.querySelectorAll(".region")], marks = [...svg.querySelectorAll(".layer-points .point")];
        return marks.map((mark) => {
          const at = new DOMPoint(0, 0).matrixTransform(mark.getCTM()).matrixTransform(svg.getCTM().inverse());
          return regions.map((region) => region.isPointInFill(at)); }); }"""
    )
    X, _ = Scene.from_query(query).rows()
    predicted = record_scene(Scene.from_query(query)).estimator.predict(X)
    assert all(row[k] for row, k in zip(inside, predicted, strict=True))
    right = int(np.sum(predicted == Scene.from_query(query).rows()[1]))
    assert f"{right} of {len(X)} in their class" in lab.text(".pattern .caption")


def test_pairs_add_up_and_say_which_class_wins(lab):
    """In a row of three classes the sums of one-vs-one put the third class into the second."""
    query = "data=three&param.multiclass=ovo"
    lab.open(f"{query}&t=120")
    assert "so it is put into class 2, not 3" in lab.sentence
    assert "40 of 60 in their class" in lab.text(".pattern .caption")
    assert record_scene(Scene.from_query(query)).estimator.score(*Scene.from_query(query).rows()) == pytest.approx(
        2 / 3
    )


def test_regions_of_mapped_classes_are_not_those_of_a_plane(lab):
    """Six weights per class are no line; the surface on the grid is what is drawn."""
    lab.open("data=three&features=quadratic&t=100000")
    assert not any(lab.page.locator(".region").evaluate_all("(all) => all.map((one) => one.getAttribute('d'))"))
    assert lab.page.locator(".pattern .boundary[d^=M]").count()


def test_a_batch_names_the_rows_that_it_corrects_and_counts_them(lab):
    lab.open("data=or&param.batch=true&t=1")
    assert lab.sentence.startswith("Misclassified: x1 to x4. Their sum, each with its sign, is added: w = (2, 2)")
    assert "4 mistakes" in lab.text(".count")
    lab.press("ArrowRight")
    assert lab.sentence.startswith("Misclassified: x1. It is added with its sign")
    assert "5 mistakes" in lab.text(".count")


@pytest.mark.parametrize("learner", ["AveragedPerceptron", "VotedPerceptron"])
def test_a_caption_counts_what_the_learner_predicts_by(lab, learner):
    scene = Scene.from_query(f"data=overlap&learner={learner}&epochs=5")
    lab.open(f"data=overlap&learner={learner}&epochs=5&t=100000")
    X, y = scene.rows()
    estimator = record_scene(scene).estimator
    right = int(np.sum(estimator.predict(X) == y))
    assert f"On their side: {right} of 80 in the" in lab.text(".pattern .caption")


def test_an_average_has_a_boundary_of_its_own_and_hairs(lab):
    lab.open("data=overlap&learner=AveragedPerceptron&t=300")
    assert lab.page.locator(".pattern .boundary.mean").get_attribute("d")
    assert lab.page.locator(".pattern .hair[d^=M]").count() > 5


def test_a_run_that_takes_long_is_said_to_be_on_its_way(lab):
    held = []
    lab.page.route("**/run", lambda route: held.append(route))
    lab.page.goto(f"{lab.address}#learner=AROW")
    lab.page.wait_for_selector(".narration:text('Learning \u2026')")
    assert len(held) == 1
    held.pop().continue_()
    lab.page.wait_for_selector("#lab[data-ready=true]")
    assert "Learning" not in lab.text(".narration")


# ----------------------------------------------------------------------------------------------------------- proofs


def test_a_proof_of_separability_is_a_band_and_its_supports(lab):
    lab.open("data=or")
    lab.press("c")
    lab.page.wait_for_selector(".layer-proof .band")
    assert lab.page.locator(".layer-proof .support").count() == 3
    assert "Separable" in lab.text(".tab.proof")
    lab.press("c")
    assert lab.page.locator(".layer-proof .band").count() == 0


def test_a_proof_of_the_contrary_is_a_common_point_of_the_hulls(lab):
    lab.open("data=xor&t=4")
    lab.page.get_by_role("button", name="Prove it").click()
    lab.page.wait_for_selector(".layer-proof .common")
    assert lab.page.locator(".layer-proof .hull").count() == 2
    assert "1/2" in lab.text(".layer-proof .name")


def test_the_weights_of_xor_go_in_a_loop(lab):
    lab.open("data=xor&t=4&view=slice")
    assert lab.page.locator(".weights svg:not(.hidden) .loop").get_attribute("d")
    assert lab.text(".say .end").startswith(
        "The weights are back at zero after an epoch: from here it would repeat for ev"
    )
    assert "average" not in lab.text(".say .end")
    lab.press("ArrowLeft")
    assert not lab.page.locator(".weights svg:not(.hidden) .loop").get_attribute("d")


def test_a_cycle_goes_round(lab):
    lab.open("data=xor&t=4")
    told = []
    for _ in range(8):
        lab.press("ArrowRight")
        told.append(lab.text(".narration"))
    assert told[:4] == told[4:]
    assert lab.t == 12
    assert lab.value("lab.run.mistakes[12]") == 12
    assert "Round 2 of the cycle" in (lab.press(*["ArrowLeft"] * 6) or lab.text(".say .end"))


@pytest.mark.parametrize("scene", ["data=spam&t=12", "data=or&features=quadratic&t=24", "data=circle&features=units"])
def test_a_separator_of_more_than_two_features_is_not_drawn_as_a_band_of_the_plane(lab, scene):
    """It has more than three numbers, and the first three are not a line."""
    lab.open(scene)
    lab.press("c")
    lab.page.wait_for_selector(".tab.proof h3")
    lab.wait("document.querySelector('.distances li')")
    assert lab.page.locator(".layer-proof .band").count() == 0
    assert "e-" not in lab.text(".tab.proof")
    bars = lab.page.locator(".distances meter").evaluate_all("(all) => all.map((one) => one.value)")
    assert bars == sorted(bars)
    assert min(bars) > 0


def test_under_a_map_the_proof_is_the_curve_of_its_separator(lab):
    """Every point on the drawn curve has score zero under the separator of the certificate."""
    lab.open("data=circle&n=20&features=quadratic")
    lab.press("c")
    lab.page.wait_for_selector(".layer-proof .widest[d]")
    ends = lab.page.evaluate(
        """() => { const box = document.querySelector("#lab").lab.run.about.box, side = 460;
        const at = (text) => text.split(" ").map(Number);
        return document.querySelector(".layer-proof .widest").getAttribute("d").slice(1).split(/[ML]/).map(at)
          .map(([x, y]) => [box[0] + x / side * (box[1] - box[0]), box[2] + (1 - y / side) * (box[3] - box[2])]); }"""
    )
    (drawn,) = answers([["read", proof_of(Scene.from_query("data=circle&n=20&features=quadratic"))]])
    *w, b = drawn["hyperplane"]
    scores = polynomial(np.array(ends), 2) @ w + b
    assert len(ends) > 20
    assert np.abs(scores).max() < 0.05 * np.abs(w).max()


def test_the_squeeze_goes_on_to_where_the_proof_says_stop(lab):
    lab.open("data=or&t=24")
    curves = "[...document.querySelectorAll('.squeeze .upper, .squeeze .lower')]"
    ends = f"{curves}.map((curve) => curve.getAttribute('d')?.split('L').pop())"
    assert len({*filter(None, lab.value(ends))}) == 2
    lab.page.get_by_role("button", name="As far as the bound").click()
    upper, lower = (float(end.split()[1]) for end in filter(None, lab.value(ends)))
    assert abs(upper - lower) < 1, "the two bounds meet"
    assert "the proof says stop at 27" in lab.text(".squeeze figcaption")


def test_the_solutions_are_an_open_set(lab):
    """At b = 0 the row (0, 0) of OR is a tie whatever w is, so that no w is a solution."""
    lab.open("data=or&t=5&view=slice")
    assert lab.value("lab.run.W[3 * lab.run.at[4] + 2]") == 0
    assert lab.page.locator(".weights svg:not(.hidden) .solutions").get_attribute("d") == ""
    lab.press("End")
    assert lab.page.locator(".weights svg:not(.hidden) .solutions").get_attribute("d")


# ------------------------------------------------------------------------------------------------------ tour and race


def test_the_tour_has_five_chapters_with_steps_predictions_and_answers(lab):
    lab.open()
    lab.press("t")
    assert "Chapter 1 of 5" in lab.text(".chapter")
    lab.page.wait_for_timeout(300)
    next_ = lab.page.locator(".chapter .primary")
    answered = False
    while "Next chapter" not in next_.inner_text():
        next_.click()
        answer = lab.page.locator(".predict:not([hidden]) button").last
        if answer.count() and not answered:
            before = lab.t
            lab.press("ArrowRight")
            assert lab.t == before, "the next trial waits for a prediction"
            answer.click()
            assert lab.t == before + 1
            assert re.match("You were (right|wrong)", lab.text(".say .end"))
            answered = True
    lab.page.locator(".answer summary").click()
    assert lab.page.locator(".answer p").inner_text()
    for number in range(2, 6):
        while "Next chapter" not in next_.inner_text():
            next_.click()
        next_.click()
        assert f"Chapter {number} of 5" in lab.text(".chapter")
    lab.wait("location.hash.includes('chapter=5')")
    lab.page.go_back()
    lab.wait("document.querySelector('.chapter').textContent.includes('Chapter 4 of 5')")


def test_the_address_of_a_chapter_is_enough(lab):
    lab.open("chapter=3")
    assert "Chapter 3 of 5" in lab.text(".chapter")
    assert lab.value("lab.scene.data") == "xor"


def test_a_race_has_one_line_of_time(lab):
    lab.open("data=clouds&n=20&race=AveragedPerceptron:shuffled;PassiveAggressive:cyclic:C=2&t=10")
    assert lab.page.locator(".lane").count() == 2
    last = int(lab.page.locator(".time input").get_attribute("max"))
    assert last >= lab.value("lab.run.trials")
    lab.press("End")
    assert lab.t == last
    assert all("ended at trial" in text for text in lab.page.locator(".lane-name").all_inner_texts())
    lab.page.locator("details[data-part=race] summary").click()
    lab.page.get_by_role("button", name="Remove").first.click()
    lab.wait("document.querySelectorAll('.lane').length === 1")
    lab.page.get_by_role("button", name="Add to the race").click()
    lab.wait("document.querySelectorAll('.lane').length === 2")


# -------------------------------------------------------------------------------------------- address, looks, exports


@pytest.mark.parametrize(
    "hash",
    [
        "data=xor&t=3&view=slice",
        "data=clouds&n=30&margin=0.2&learner=PassiveAggressive&param.C=0.5&order=shuffled&seed=3&t=11",
        "data=points&p=0.25,1.5a;-1,0.5b;2,0a;1,-1c&learner=Perceptron&param.multiclass=ovo&t=6",
        "data=or&start=1,-2,0.5&t=2&theme=dark&hide=order,settings",
        "data=moons&n=20&learner=KernelPerceptron&param.kernel=poly&param.gamma=0.5&t=30",
    ],
)
def test_the_address_brings_everything_back(lab, hash):
    lab.open(hash)
    said, t, scene = lab.sentence, lab.t, lab.value("lab.scene")
    lab.press("ArrowRight", "ArrowLeft")
    lab.page.wait_for_timeout(300)
    engine = Scene.from_query(lab.page.evaluate("location.hash"))
    assert engine == Scene.from_dict(scene)
    lab.page.reload()
    lab.page.wait_for_selector("#lab[data-ready]")
    assert (lab.sentence, lab.t, lab.value("lab.scene")) == (said, t, scene)
    for part in re.findall("hide=([a-z,]+)", hash):
        for name in part.split(","):
            assert not lab.page.locator(f"[data-part={name}]").first.is_visible()


@pytest.mark.parametrize("hash", ["data=points&p=x", "param.eta0=-1", "epochs=1e9", "seed=none"])
def test_a_wrong_address_is_rejected_with_a_message(lab, hash):
    lab.refused = True
    lab.open(hash)
    assert lab.page.locator("#lab").get_attribute("data-ready") == "failed"
    assert len(lab.text(".narration")) > 20


def test_points_that_cannot_be_unpacked_are_left_out_with_a_note(lab):
    lab.open("data=points&q=!")
    assert "left it out: q." in lab.text(".say .end")
    assert "Click into the plane" in lab.text(".narration")


@pytest.mark.parametrize("hash", ["data=nothing", "learner=<script>", "later=1", "param.later=1", "order=&features=x"])
def test_unknown_parts_of_an_address_are_left_out_with_a_note(lab, hash):
    lab.open(f"{hash}&t=2")
    for key in [part.partition("=")[0] for part in hash.split("&")]:
        assert key in lab.text(".say .end")
    assert "left it out" in lab.text(".say .end")
    assert (lab.t, lab.value("lab.run.n"), lab.value("lab.scene.learner")) == (2, 4, "Perceptron")
    lab.press("ArrowRight")
    assert "left it out" not in lab.text(".say .end")


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("arow", "by the rows that count, most where it varied least."),
        ("random", "+1=1. The budget is full: a row, drawn at random, is dropped."),
        ("forgetron", "The budget is full: every count shrinks, and the oldest row is dropped."),
        ("projectron", "close to a sum of the rows that count: its share goes to them."),
    ],
)
def test_a_full_budget_is_described(lab, rule, sentence):
    scene = f"data=moons&n=30&learner=KernelPerceptron&param.budget=3&param.budget_rule={rule}"
    recording = record_scene(Scene.from_query(scene)).recording
    full = np.count_nonzero(recording.W.any(axis=1), axis=1)[np.r_[0, recording.at[:-1]]] == 3
    t = int(np.flatnonzero(full & (recording.mistakes > 0))[0])
    lab.open(f"{scene}&t={t + 1}")
    told = lab.text(".narration").replace("\n", "")
    assert told.startswith(f"x{recording.row[t] + 1} is misclassified")
    assert told.endswith(sentence)


def test_unknown_keys_of_an_address_are_left_alone(lab):
    lab.open("data=and&colour=red&t=xyz&view=moon&chapter=99")
    assert lab.t == 0
    assert lab.value("lab.run.n") == 4


def test_dark_and_projector_are_a_key_away(lab):
    lab.open("data=or&t=5")
    ground = "getComputedStyle(document.querySelector('#lab')).backgroundColor"
    light = lab.page.evaluate(ground)
    lab.press("d")
    assert lab.page.evaluate(ground) != light
    small = lab.page.evaluate("parseFloat(getComputedStyle(document.querySelector('.narration')).fontSize)")
    lab.press("p")
    assert not lab.page.locator("header [data-part=tour]").is_visible()
    large = lab.page.evaluate("parseFloat(getComputedStyle(document.querySelector('.narration')).fontSize)")
    assert large > 1.5 * small
    lab.press("p")
    assert lab.page.locator("header [data-part=tour]").is_visible()
    lab.press("?")
    assert "play, pause" in lab.text("dialog[open]")


def test_the_page_follows_the_system_until_somebody_chooses_and_prints_light(lab):
    lab.open("data=or&t=5")
    ground = "getComputedStyle(document.querySelector('.lab .panel')).backgroundColor"
    light = lab.page.evaluate(ground)
    lab.page.emulate_media(color_scheme="dark")
    lab.wait(f"{ground} !== {json.dumps(light)}")
    dark = lab.page.evaluate(ground)
    lab.page.emulate_media(media="print", color_scheme="dark")
    assert lab.page.evaluate(ground) == light
    lab.page.emulate_media(media="screen", color_scheme="dark")
    lab.press("d")
    assert lab.page.evaluate(ground) == light
    lab.page.emulate_media(color_scheme="light")
    lab.press("d")
    assert lab.page.evaluate(ground) == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_run_in_a_frame_follows_the_switch_of_the_document_around_it(browser, tmp_path, scheme):
    (tmp_path / "run.html").write_text(one_file(Scene(), t=5), encoding="utf-8")
    (tmp_path / "page.html").write_text(
        "<!doctype html><body data-theme=auto><figure class=lab>"
        "<iframe src=run.html width=900 height=600 sandbox='allow-scripts allow-downloads'></iframe></figure>"
        f"<script>{RUNS_OF_THE_SITE.read_text()}</script>",
        encoding="utf-8",
    )
    faults, context = [], browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri())
    run = page.frames[1]
    run.wait_for_selector(".narration")
    for theme, wanted in (("auto", scheme), ("dark", "dark"), ("light", "light"), ("auto", scheme)):
        page.evaluate(f"document.body.dataset.theme = {theme!r}")
        # Not by a function to wait for: asked again, it is a string to evaluate, which the page's policy forbids.
        run.wait_for_selector(f".lab[data-theme={wanted}]")
        assert run.evaluate("getComputedStyle(document.querySelector('.lab')).colorScheme") == wanted
    other = "light" if scheme == "dark" else "dark"
    run.evaluate(f"window.postMessage({{ labTheme: '{other}' }}, '*')")  # from itself, which is nobody around it
    run.evaluate("new Promise((done) => setTimeout(done, 100))")
    assert run.locator(".lab").get_attribute("data-theme") == scheme
    context.close()
    assert not faults


def export(lab, name, folder):
    """Save a file from the export menu; return its path."""
    lab.press("e")
    with lab.page.expect_download() as download:
        lab.page.locator("details[data-part=export]").locator(f"button[title='Save {name}']").click()
    assert download.value.suggested_filename == name
    download.value.save_as(folder / name)
    lab.press("e")
    return folder / name


def test_everything_can_be_taken_away(lab, tmp_path):
    lab.open("data=or&t=9")
    saved = {}
    for title in (
        "lab.png",
        "lab.svg",
        "points.csv",
        "trials.csv",
        "scene.json",
        "run.safetensors",
        "lab.py",
        "lab.html",
    ):
        saved[title] = export(lab, title, tmp_path).read_bytes()
    assert saved["lab.png"].startswith(b"\x89PNG")
    assert saved["lab.svg"].startswith(b"<svg")
    assert b"class=" not in saved["lab.svg"]
    halos = re.findall(rb'<text[^>]*stroke="rgb[^>]*>', saved["lab.svg"])
    assert halos
    assert all(b'paint-order="stroke"' in halo for halo in halos), "the halo of a label would cover it"
    assert len(saved["trials.csv"].splitlines()) == 25
    assert json.loads(saved["scene.json"])["t"] == 9
    assert saved["trials.csv"].decode().splitlines()[:3] == [
        "trial,epoch,row,x1,x2,class,score,loss,mistake,update,w x1,w x2,b",
        "1,1,1,0,0,-1,0,0,1,1,0,0,-1",
        "2,1,2,1,0,+1,-1,1,1,1,1,0,0",
    ]
    assert saved["points.csv"].decode().splitlines() == ["x1,x2,class", "0,0,-1", "1,0,+1", "0,1,+1", "1,1,+1"]
    run, wanted = Frames.from_bytes(saved["run.safetensors"]), frames(Scene.from_query("data=or"))
    assert run.arrays.keys() == wanted.arrays.keys()
    for name in run.arrays.keys() - {"dot"}:
        np.testing.assert_array_equal(run.arrays[name], wanted.arrays[name])
    assert saved["lab.html"].startswith(b"<!doctype html>")
    (tmp_path / "check.py").write_bytes(saved["lab.py"] + b"\nprint([*w, b])\n")
    done = subprocess.run([sys.executable, tmp_path / "check.py"], capture_output=True, text=True, check=True)
    printed = [float(v) for v in re.findall(r"-?\d+\.?\d*", done.stdout.splitlines()[-1].replace("np.float64", ""))]
    assert printed == lab.value("[...lab.run.W.slice(3 * lab.run.at[8], 3 * lab.run.at[8] + 3)]")


def test_the_python_follows_the_screen(lab):
    lab.open("data=or&t=2")
    lab.page.get_by_role("tab", name="Python").click()
    lab.wait("document.querySelector('.code')?.textContent.includes('rosenblatt')")
    before = lab.text(".code")
    lab.press("End")
    lab.wait(f"document.querySelector('.code').textContent !== {json.dumps(before)}")
    assert len(before.splitlines()) <= 15


# ------------------------------------------------------------------------------------------ a lab that is a file, alone


@pytest.fixture
def alone(browser, tmp_path):
    """The exported lab, opened from a folder in a browser without a network."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True, offline=True)
    lab = Lab(context, export_lab(tmp_path).as_uri())
    yield lab
    context.close()
    assert not lab.faults


LECTURES = [
    "data=or",
    "data=and",
    "data=xor",
    "data=spam",
    "data=three&n=30&param.multiclass=joint",
    "data=four&n=24&param.multiclass=ovo",
    "data=circle&n=40&features=quadratic",
    "data=circle&n=40&learner=KernelPerceptron",
    "data=clouds&n=30&learner=AveragedPerceptron&order=shuffled&seed=3",
]


@pytest.mark.parametrize("text", LECTURES)
def test_the_exported_lab_learns_without_a_network_as_python_does(alone, text):
    alone.open(text)
    wanted = frames(Scene.from_query(text))
    alone.press("End")
    ended = wanted.arrays["row"].size
    assert alone.value("lab.run.ended") == ended
    assert alone.value("[...lab.run.row]")[:ended] == wanted.arrays["row"].tolist()
    assert alone.value("lab.run.about.reason") == wanted.about["reason"]
    if "W" in wanted.arrays:
        np.testing.assert_allclose(alone.value("[...lab.run.W]"), wanted.arrays["W"].ravel(), rtol=1e-12, atol=1e-12)
    assert len(alone.text(".say .end")) > 20


def test_the_exported_lab_names_what_needs_the_installed_one(alone):
    alone.open("data=or&learner=AROW")
    assert "AROW needs the installed lab" in alone.text(".narration")
    options = alone.page.locator(".bar select option").all_inner_texts()
    assert [text for text in options if "AROW" in text] == ["AROW (installed lab)"]
    assert "Perceptron" in options


def test_a_lab_saves_itself_and_opens_as_it_was_and_can_be_saved_again(alone, browser, tmp_path):
    alone.open("data=points&p=0,0a;1,0b;0,1b;1,1b;0.5,0.25b&learner=Adaline&param.eta0=0.5&t=7&view=slice")
    weights = alone.value("[...lab.run.W]")
    context = browser.new_context(accept_downloads=True, offline=True)
    lab = alone
    for turn in ("first", "second"):
        (tmp_path / turn).mkdir()
        lab = Lab(context, export(lab, "lab.html", tmp_path / turn).as_uri()).open()
        assert lab.t == 7
        assert lab.value("JSON.stringify(lab.scene.points)") == "[[0,0,0],[1,0,1],[0,1,1],[1,1,1],[0.5,0.25,1]]"
        assert lab.value("[lab.scene.learner, lab.scene.params.eta0]") == ["Adaline", 0.5]
        assert lab.value("[...lab.run.W]") == weights
        assert not lab.faults
    lab.open("data=xor")
    lab.wait("lab.scene.data === 'xor'")
    context.close()


DROP = """async ([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"]) {
    document.querySelector("#lab").dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true }));
  }
}"""


def test_a_saved_scene_and_a_table_are_opened_by_dropping_them(alone):
    alone.open()
    alone.page.evaluate(
        DROP, ["scene.json", json.dumps({"data": "xor", "learner": "Adaline", "t": 5, "view": "slice"})]
    )
    alone.wait("lab.scene.data === 'xor' && lab.t === 5")
    assert alone.value("lab.scene.learner") == "Adaline"
    alone.page.evaluate(DROP, ["points.csv", "x1,x2,class\n0,0,no\n1,1,yes\n2,1,yes\n"])
    alone.page.get_by_role("button", name="Use these points").click()
    alone.wait("lab.run.n === 3")
    assert alone.value("lab.scene.points") == [[0, 0, 0], [1, 1, 1], [2, 1, 1]]
    alone.page.evaluate(DROP, ["scene.json", "{not JSON"])
    alone.wait("lab && $('.narration').textContent.includes('neither a scene')")


def test_a_link_holds_five_hundred_points_and_python_reads_it(alone, lab):
    random = np.random.default_rng(3)
    points = [[*np.round(random.normal(0, 2, 2), 2).tolist(), k % 4] for k in range(500)]
    scene = Scene.from_dict({"data": "points", "points": points, "epochs": 3})
    alone.open(scene.to_query())
    assert alone.value("lab.scene.points") == points
    alone.press("ArrowRight", "s")
    alone.wait("$('[aria-label=Link]').value.includes('t=1')")
    link = alone.value("$('[aria-label=Link]').value")
    place, _, state = link.partition("#")
    assert place == alone.address
    assert Scene.from_query(state) == scene
    lab.open(state)  # the part after the # opens the same in the installed lab
    assert lab.value("lab.scene.points") == points
    assert lab.t == 1


def test_an_exercise_with_a_third_class_is_open_and_says_why(alone):
    alone.open("data=points&p=0,0a;1,0b;0,1b;1,1b;2,2c&learner=Perceptron&exercise=bound-doubles")
    alone.wait("$('.exercises .result')?.textContent.startsWith('Not yet: A proof about more than two classes')")


EXERCISES = json.loads((STATIC.parent / "exercises.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one["id"])
def test_the_exported_lab_knows_when_an_exercise_is_solved(alone, exercise):
    result = "$('.exercises .result')?.textContent"
    alone.open("data=or")
    alone.page.get_by_role("tab", name="Exercises").click()
    alone.page.get_by_role("button", name=f"Start: {exercise['title']}").click(timeout=5000)
    alone.wait(f"{result}.startsWith('Not yet')")
    alone.page.goto("about:blank")
    alone.open(f"{exercise['solution']}&exercise={exercise['id']}")  # what a student hands in
    alone.wait(f"{result}.startsWith('Solved, with {exercise['result']}')")


MODES = [
    ("data=or&t=9", [[], ["t"], ["c"], ["s"], ["?"], ["x"], ["e"], ["p"]]),
    ("data=xor&t=6", [[], ["c"]]),
    ("data=spam&t=12", [[], ["c"]]),
    ("data=three&param.multiclass=ovo&t=100", [[]]),
    ("data=four&n=12&param.multiclass=ovo-vote&t=100", [[], ["c"]]),
    ("data=circle&n=20&features=quadratic&t=40", [[], ["c"]]),
    ("data=circle&n=20&learner=KernelPerceptron&t=40", [[], ["x"]]),
    ("data=overlap&learner=VotedPerceptron&n=20&t=40&view=slice", [[]]),
    ("data=clouds&n=20&race=AveragedPerceptron:shuffled;PassiveAggressive:cyclic&t=10", [[]]),
    ("data=points&p=", [[]]),
]


def violations(axe, page):
    found = axe.run(page).response["violations"]
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])  # colours, and what there is room for
def test_axe_finds_nothing(browser, address, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    lab = Lab(context, address)
    for hash, looks in MODES:
        lab.page.goto("about:blank")
        lab.open(hash)
        for keys in looks:
            lab.press(*keys)
            lab.page.wait_for_timeout(100)
            assert not violations(axe, lab.page), (hash, keys)
            lab.press("Escape", *(["p"] if keys == ["p"] else []))
    lab.page.goto("about:blank")
    lab.open("data=overlap&n=20&t=9")
    for name in ("Trials", "Python", "Curves"):
        lab.page.get_by_role("tab", name=name).click()
        lab.page.wait_for_timeout(100)
        assert not violations(axe, lab.page), name
    lab.page.get_by_role("button", name="test rows").click()
    lab.page.locator("details[data-part=settings] summary").click()
    lab.wait("document.querySelector('.layer-test .test')")
    assert not violations(axe, lab.page), "settings and test rows"
    lab.page.get_by_role("button", name="Regression").click()
    assert not violations(axe, lab.page), "regression"
    context.close()
    assert not lab.faults


# ---------------------------------------------------------------------------------------------- a view for the lecture


def test_the_table_of_the_mails_and_a_new_one(lab):
    """The lecture's example: w = (0, 2, 0, -1, 1), and a new mail with `and` and `viagra` has score 2: spam."""
    lab.open("data=spam&t=12")
    heads = lab.page.locator(".rows thead th").all_inner_texts()
    assert heads == ["and", "viagra", "the", "of", "nigeria", "y", "f(x)", "class"]
    cells = [row.inner_text().replace("\u2212", "-").split() for row in lab.page.locator(".rows tbody tr").all()]
    assert [row[-2] for row in cells] == ["2", "-1", "2", "-1", "1", "-1"]
    assert [row[0] for row in cells] == [f"x{i}" for i in range(1, 7)]
    assert "f(x\u2032) = 2, class +1" in lab.text(".rows-box p")
    lab.page.get_by_label("viagra of the new row").uncheck()
    lab.page.get_by_label("of of the new row", exact=True).check()
    assert "f(x\u2032) = -1, class -1" in lab.text(".rows-box p")


def test_a_probe_says_score_class_and_distance(lab):
    lab.open("data=or&t=24")
    lab.press("x")
    said = lab.page.locator("path.probe").get_attribute("aria-label").replace("\u2212", "-")
    x, y, f, distance = map(float, re.findall(r"-?\d+\.?\d*(?=[,):]|$)", said.replace(": class +1", ":")))
    assert f == pytest.approx(2 * x + 2 * y - 1, abs=0.01)
    assert distance == pytest.approx(f / np.hypot(2, 2), abs=0.01)
    lab.page.locator("path.probe").focus()
    for _ in range(40):
        lab.press("ArrowLeft", "ArrowDown")
    assert "class -1" in lab.page.locator("path.probe").get_attribute("aria-label").replace("\u2212", "-")
    assert lab.value("lab.run.n") == 4, "a probe is not a row"


@pytest.mark.parametrize("features", ["quadratic", "cubic", "none"])
def test_test_rows_have_the_error_of_the_estimator(lab, features):
    query = f"data=moons&n=60&features={features}&epochs=6"
    lab.open(f"{query}&t=100000")
    lab.page.get_by_role("button", name="test rows").click()
    lab.page.wait_for_selector(".errors .curve")
    model = record_scene(Scene.from_query(query))
    X, y = Scene.from_query(f"{query}&data_seed=5000").rows()
    wrong = int(np.sum(model.estimator.predict(model.feature_map(X)) != y))
    assert f"test error {wrong} of 60" in lab.text(".pattern .caption")


def test_names_of_columns_and_classes_are_kept(lab):
    lab.open()
    lab.page.locator("details[data-part=settings] summary").click()
    lab.page.get_by_role("button", name="Paste or open a table").click()
    rows = ["height,weight,who", "1.8,0.8,tall", "1.6,0.5,short", "1.9,0.9,tall", "1.5,0.6,short"]
    lab.page.locator("dialog[open] textarea").fill("\n".join(rows))
    lab.page.get_by_role("button", name="Use these points").click()
    lab.wait("lab.run.about.scene.data === 'points'")
    assert lab.page.locator(".pattern .axis-name").all_text_contents() == ["height", "weight"]
    assert lab.text(".legend").startswith("short, y = -1tall, y = +1")
    lab.press("ArrowRight")
    lab.wait("location.hash.includes('height')")
    lab.page.reload()
    lab.page.wait_for_selector("#lab[data-ready]")
    assert lab.page.locator(".pattern .axis-name").all_text_contents() == ["height", "weight"]
    assert "tall" in lab.text(".legend")


def test_an_empty_plane_says_what_to_do(lab):
    lab.open("data=or&t=3")
    lab.page.get_by_role("button", name="clear").click()
    assert lab.text(".narration") == "Click into the plane: one point of each class."
    lab.press("ArrowRight", "End", "]", "Shift+ArrowRight", " ", "c")
    x, y = lab.centre(".pattern svg.plane")
    lab.page.mouse.click(x, y)
    assert "All points are of one class" in lab.text(".narration")
    lab.press("1")
    lab.page.mouse.click(x - 80, y)
    lab.wait("lab.run?.n === 2")
    assert lab.sentence.startswith("Two points, two classes.")
    lab.press("z", "z", "z")
    lab.wait("lab.scene.data === 'or' && lab.run?.n === 4")


def test_a_point_dragged_outside_stays_in_sight(lab):
    lab.open("data=or")
    x, y = lab.centre(".pattern .layer-points .point", 3)
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x + 700, y - 300, steps=4)
    lab.page.mouse.up()
    lab.wait("lab.scene.data === 'points' && lab.run.X[6] === lab.scene.points[3][0]")
    box = lab.page.locator(".pattern svg.plane").bounding_box()
    px, py = lab.centre(".pattern .layer-points .point", 3)
    assert box["x"] <= px <= box["x"] + box["width"] + 1
    assert box["y"] - 1 <= py <= box["y"] + box["height"]


def test_the_plane_is_zoomed_moved_and_fitted(lab):
    lab.open("data=or&t=24")
    apart = """Math.hypot(...["x", "y"].map((k) => { const [p, , , q] = [...document.querySelectorAll(
      ".layer-points .point")].map((one) => one.getBoundingClientRect()); return p[k] - q[k]; }))"""
    before, line = lab.value(apart), lab.page.locator(".layer-line .boundary:not(.old)").last.get_attribute("d")
    lab.page.get_by_role("button", name="Zoom in").click()
    assert lab.value(apart) == pytest.approx(before * 1.25, rel=0.01)
    x, y = lab.centre(".pattern svg.plane")
    lab.page.keyboard.down("Shift")
    lab.page.mouse.move(x + 5, y + 5)
    lab.page.mouse.down()
    lab.page.mouse.move(x + 50, y + 20)
    lab.page.mouse.up()
    lab.page.keyboard.up("Shift")
    assert lab.value("lab.run.n") == 4
    lab.press("0")
    assert lab.value(apart) == pytest.approx(before, rel=0.01)
    assert lab.page.locator(".layer-line .boundary:not(.old)").last.get_attribute("d") == line


def test_on_a_phone_a_tap_draws_and_a_swipe_scrolls(browser, address):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    lab = Lab(context, address).open("data=or&t=9")
    x, y = lab.centre(".pattern svg.plane")
    touch = context.new_cdp_session(lab.page)
    for step in range(16):
        kind = "touchMove" if step else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - 10 * step}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    lab.wait("scrollY > 50")
    assert lab.value("lab.run.n") == 4
    lab.page.evaluate("scrollTo(0, 0)")
    lab.page.touchscreen.tap(x, y)
    lab.wait("lab.run.n === 5")
    below = [lab.page.locator(css).bounding_box()["y"] for css in (".pattern", ".say", ".weights", ".side")]
    assert below == sorted(below), "the narration follows the picture that it is about"
    assert lab.page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
    assert not lab.faults


@pytest.mark.parametrize("width", [390, 700, 990, 1280])
def test_nothing_is_cut_in_a_narrow_element_of_a_wide_window(lab, width):
    """As in a notebook: the layout follows the width of the lab, not of the window."""
    lab.open("data=or&t=9")
    lab.page.evaluate(f"document.body.style.width = '{width}px'")
    lab.page.wait_for_timeout(100)
    cut = lab.page.evaluate(
        """(width) => [...document.querySelectorAll("header :is(button, summary, select), .head, .foot, .caption,"
        + ".buttons button, .narration")].filter((one) => one.checkVisibility())
        .filter((one) => one.getBoundingClientRect().right > width + 1).map((one) => one.className || one.tagName)""",
        width,
    )
    assert not cut


@pytest.mark.parametrize("units", [0, 10])
@pytest.mark.parametrize("eta", [0.1, 0.5])
def test_regression_in_the_page_is_that_of_the_estimator_trial_by_trial(bench, units, eta):
    code = """(() => { const rows = m.targetRows("sine"), Z = rows.map((row) => m.unitOutputs(row.x, a[0]));
      let w = new Array(Z[0].length + 1).fill(0); const all = [w];
      for (let t = 0; t < 3 * rows.length; t++) {
        w = m.adalineStep(w, Z[t % rows.length], rows[t % rows.length].y, a[1]); all.push(w); }
      return [Z, rows.map((row) => row.y), all]; })()"""
    Z, y, shown = map(np.array, call(bench, "regression", code, [units, eta]))
    run = record(AdalineRegressor(eta0=eta, shuffle=False, max_iter=3, tol=None), Z, y)
    expected = np.column_stack([run.W[:, 0], run.b[:, 0]])[np.r_[0, run.at]]
    np.testing.assert_allclose(shown, expected, atol=1e-12)


def test_more_units_approximate_a_sine_better(lab):
    lab.open()
    lab.page.locator("details[data-part=settings] summary").click()
    lab.page.get_by_role("button", name="Regression").click()
    dialog = lab.page.locator("dialog[open]")
    dialog.locator("select").first.select_option("sine")
    errors = []
    for units in ("0", "3", "10", "30"):
        dialog.locator("select").nth(1).select_option(units)
        dialog.get_by_role("button", name="100 epochs").click()
        errors.append(float(re.search("mean squared error ([0-9.]+)", dialog.inner_text())[1].rstrip(".")))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01 * errors[0] * 2


def test_settings_are_in_words_with_their_values(lab):
    lab.open("data=moons&n=20&learner=KernelPerceptron")
    lab.page.locator("details[data-part=settings] summary").click()
    form = lab.page.locator(".settings").inner_text()
    for word in ("X.var()", "ovr", "coef0", "fit_intercept", "constant"):
        assert word not in form
    assert "one against the rest" in form
    assert "0 to 5." in form, "the margin of the kernel perceptron"
    lab.page.locator(".settings select").first.select_option(label="polynomial")
    lab.wait("lab.scene.params.kernel === 'poly'")
    assert "For the polynomial kernel only" in lab.page.locator(".settings").inner_text()


def test_numbers_of_axes_are_not_cut(lab):
    """The loss of heights and weights has six digits."""
    lab.open("data=points&p=180,80a;175,75a;160,50b;165,55b;150,48b;190,95a&t=54")
    lefts = lab.page.locator(".chart .tick").evaluate_all("(all) => all.map((one) => one.getBBox().x)")
    assert len(lefts) > 6
    assert min(lefts) >= 0


def test_hovering_a_point_lights_it_up_everywhere(lab):
    lab.open("data=or&t=24")
    lab.page.locator(".pattern .layer-points .point").first.hover()
    assert lab.page.locator(".weights svg:not(.hidden) .dual.lit").get_attribute("d")
    assert lab.page.locator(".strip .ticks.lit").get_attribute("d").count("M") == 5


# --------------------------------------------------------------------------------------------------- the modules' laws

small = st.integers(-3, 3).map(float)
planes = st.lists(st.tuples(small, small, small), min_size=1, max_size=6)
real = st.floats(-3, 3)
SQUARE = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]


def test_what_clipping_leaves_is_on_the_right_side(bench):
    @given(st.lists(st.tuples(real, real, real), min_size=1, max_size=8))
    def law(cuts):
        code = "a[1].reduce((p, [x, y, z]) => m.clip(p, x, y, z), a[0])"
        for x, y in call(bench, "geometry", code, [SQUARE, cuts]):
            assert all(a * x + b * y + c >= -1e-9 for a, b, c in cuts)

    law()


def test_an_open_region_is_empty_if_and_only_if_no_point_is_strictly_inside(bench):
    random = np.random.default_rng(0)
    points = random.uniform(-1, 1, (4000, 2))

    @given(planes)
    def law(cuts):
        region = np.array(call(bench, "geometry", "m.openRegion(a[0], a[1])", [SQUARE, cuts]))
        values = [points @ np.array(cut[:2]) + cut[2] for cut in cuts]
        if region.size == 0:
            assert not np.all(np.array(values) > 0, axis=0).any()
        else:
            centre = region.mean(axis=0)
            assert all(centre @ np.array(cut[:2]) + cut[2] > 0 for cut in cuts)

    law()


def test_a_chord_lies_on_the_line_and_ends_at_the_border(bench):
    @given(real, real, real)
    def law(a, b, c):
        assume(np.hypot(a, b) > 1e-3)
        ends = call(bench, "geometry", "m.chord([[-1, 1], [-2, 2]], ...a)", [a, b, c])
        for x, y in ends or []:
            assert abs(a * x + b * y + c) <= 1e-6
            assert abs(x) <= 1 + 1e-6
            assert abs(y) <= 2 + 1e-6
            assert min(abs(abs(x) - 1), abs(abs(y) - 2)) <= 1e-6

    law()


def test_the_solutions_on_the_sphere_hold_every_solution(bench):
    """With the direction of the maximum margin, which is a sum of the rows with positive factors."""

    @settings(max_examples=40)
    @given(st.integers(0, 10_000))
    def law(seed):
        random = np.random.default_rng(seed)
        hidden = random.normal(size=3)
        rows = random.normal(size=(6, 3))
        rows *= np.sign(rows @ hidden)[:, None]
        corners = np.array(call(bench, "geometry", "m.sphericalRegion(a[0], a[1])", [rows.tolist(), hidden.tolist()]))
        assume(corners.size)
        middle = corners.sum(axis=0)
        assert (rows @ middle > 0).all()
        assert (rows @ corners.T > -1e-6).all()

    law()


def test_an_arc_has_equal_steps_even_between_almost_opposite_points(bench):
    """The solution set of heights and weights has corners that are almost opposite: its sides are half circles."""

    @settings(max_examples=50)
    @given(st.integers(0, 10_000), st.floats(1e-3, np.pi - 1e-4))
    def law(seed, angle):
        p, other = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 2)))[0].T
        q = np.cos(angle) * p + np.sin(angle) * other
        arc = np.array(call(bench, "geometry", "m.arc3(a[0], a[1])", [p.tolist(), q.tolist()]))
        steps = np.linalg.norm(np.diff(arc, axis=0), axis=1)
        np.testing.assert_allclose(np.linalg.norm(arc, axis=1), 1.0)
        np.testing.assert_allclose(steps, 2 * np.sin(angle / 32), rtol=1e-5)
        np.testing.assert_allclose([arc[0], arc[-1]], [p, q], atol=1e-6)

    law()


def test_ticks_are_round_and_inside(bench):
    @given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(1, 9))
    def law(low, width, count):
        found = call(bench, "geometry", "m.ticks([a[0], a[1]], a[2])", [low, low + width, count])
        assert len(found) <= count + 2
        assert all(low - 1e-6 * width <= v <= low + width * (1 + 1e-6) for v in found)

    law()


def test_an_address_is_read_as_it_was_written(bench):
    @settings(max_examples=50)
    @given(st.sampled_from(learner_names()), st.integers(0, 500))
    def law(name, seed):
        scene = random_scene(name, seed)
        code = """(async () => { const catalogue = await (await fetch("catalogue")).json();
          const { scene } = m.fromAddress(a, catalogue);
          return m.toAddress(scene, m.defaultLook(), catalogue); })()"""
        assert Scene.from_query(call(bench, "address", f"await {code}", scene.to_query())) == scene

    law()


# ---------------------------------------------------------------------------------------------------------- the files


def test_nothing_is_made_from_text():
    """Trusted Types would stop it; this says where."""
    for path in STATIC.glob("*.js"):
        code = path.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert word not in code, f"{path.name} has {word}"
    assert "style=" not in (STATIC / "index.html").read_text()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_soft_margin_in_the_dual_is_described_as_it_is(browser, tmp_path, classes):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), np.arange(30) % classes
    run = KernelPerceptron(margin=1.0, max_updates=2, multiclass="ovr")
    (tmp_path / "run.html").write_text(one_file(run, X, y), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "run.html").as_uri())
    page.wait_for_selector(".narration")
    page.mouse.click(700, 400)
    told = []
    for _ in range(150):
        page.keyboard.press("ArrowRight")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        told.append(page.locator(".narration").text_content())
    page.close()
    assert any("too close" in sentence and "counts" in sentence for sentence in told)
    assert any(
        "misclassified" in sentence and "as often as a row may: nothing changes" in sentence for sentence in told
    )
