"""Modules joined to one, and a run in one HTML file that runs nothing but its own script."""

import base64
import hashlib
import json
import re
import zlib

import numpy as np
import pytest

from rosenblatt import AssociationUnits, KernelPerceptron, MaximumMargin, Perceptron, VotedPerceptron
from rosenblatt.datasets import logical, two_moons
from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import catalogue
from rosenblatt.lab.frames import Frames
from rosenblatt.lab.page import (
    LAB,
    RUN,
    STATIC,
    WIDGET,
    export_lab,
    joined,
    lab_file,
    module_text,
    one_file,
    pieces,
    policy_hash,
    scene_of,
    style_text,
    widget_module,
)
from rosenblatt.lab.scene import Scene


def write(folder, **modules):
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text)
    return folder


def inside(html, name):
    return re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', html, re.DOTALL)[1]


def unpacked(html, name):
    return zlib.decompress(base64.b64decode(inside(html, name)), -15)


def run_in(html):
    return Frames.from_bytes(unpacked(html, "data"))


# ------------------------------------------------------------------------------------------------------------ joining


def test_modules_come_after_those_that_they_import_and_only_once(tmp_path):
    write(
        tmp_path,
        a='import { f } from "./b.js";\nimport { g } from "./c.js";\nexport const h = () => f() + g();\n',
        b='import { g } from "./c.js";\nexport function f() {\n  return g();\n}\n',
        c="/** Words. */\n// More words.\nexport const g = () => /** @type {number} */ (1);\n",
    )
    assert joined("a.js", tmp_path) == (
        "const g = () => (1);\nfunction f() {\nreturn g();\n}\nconst h = () => f() + g();"
    )


@pytest.mark.parametrize(
    ("modules", "says"),
    [
        ({"a": 'import { f as g } from "./b.js";\n', "b": "export const f = 1;\n"}, "renames"),
        ({"a": 'import f from "./b.js";\n', "b": "export const f = 1;\n"}, "cannot be joined"),
        ({"a": 'import * as b from "./b.js";\n', "b": "export const f = 1;\n"}, "cannot be joined"),
        ({"a": 'import { f } from "https://example.org/b.js";\n'}, "cannot be joined"),
        ({"a": "export default 1;\n"}, "cannot be joined"),
        ({"a": "const f = 1;\nexport { f };\n"}, "cannot be joined"),
        ({"a": "await 1;\n"}, "cannot be joined"),
        ({"a": 'import { g } from "./b.js";\nconst f = 1;\n', "b": "const f = 2;\nexport const g = f;\n"}, "both def"),
        ({"a": 'import { g } from "./b.js";\n', "b": 'import { f } from "./a.js";\n'}, "import cycle"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path, modules, says):
    with pytest.raises(InvalidInput, match=says):
        joined("a.js", write(tmp_path, **modules))


def test_the_modules_of_the_page_can_be_joined():
    for entry in (RUN, LAB, WIDGET):
        text = module_text(entry)
        assert "function mount(" in text
        assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)
    assert widget_module().count("export default") == 1
    assert style_text()


def test_no_module_makes_html_of_text_or_runs_it():
    """Trusted Types forbid it in the served page; a saved one has only the hashes of its scripts."""
    for path in STATIC.glob("*.js"):
        text = path.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert word not in text, f"{path.name} has {word}"
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|https?://(?!www\.w3\.org)", page)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)


# ----------------------------------------------------------------------------------------------------------- one file


def test_a_file_holds_the_run_and_allows_only_its_own_scripts():
    html = one_file(Scene())
    run = run_in(html)
    assert run.arrays["W"][-1, 0].tolist() == [2, 2, -1]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    loader = re.search(r'<script type="module">(.*?)</script>', html, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    for text in (loader, unpacked(html, "modules").decode(), style):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r'(?:src|href)="http', html)


def test_what_can_be_asked_without_an_engine_is_in_the_file():
    options = json.loads(inside(one_file(Scene(), t=5, view="plane"), "scene"))
    assert options["t"] == 5
    assert options["editable"] is False
    assert options["scene"] == Scene().as_dict() | {"view": "plane"}
    assert options["answers"]["certificate"]["file"]["verdict"] == "separable"
    assert "from rosenblatt import" in options["answers"]["code"]
    assert [one["name"] for one in options["catalogue"]["learners"]] == ["Perceptron"]


def test_no_text_ends_a_script_or_a_title():
    X, y = logical("or")
    evil = "</script><script>alert(1)</script>"
    html = one_file(
        Perceptron(), X, np.where(y > 0, evil, "b"), title="</title><script>alert(2)</script>", names=[evil] * 2
    )
    assert html.count("<script") == 4
    assert "alert(2)</script>" not in html.replace("&lt;/script&gt;", "")
    assert run_in(html).about["names"] == [evil, evil]


def test_the_pieces_are_those_of_the_file():
    style, script, body, (scripts, styles) = pieces(Scene())
    html = one_file(Scene())
    assert style in html
    assert script in html
    assert body in html
    assert policy_hash(script) in scripts
    assert policy_hash(style) == styles


# ------------------------------------------------------------------------------------------------- the lab as one file


def test_the_lab_holds_its_catalogue_and_its_engine_and_allows_only_its_own_scripts():
    scene = Scene.from_query("data=xor&learner=Adaline")
    html = lab_file(scene, {"t": 3, "view": "slice"})
    assert json.loads(unpacked(html, "data")) == json.loads(json.dumps(catalogue()))
    assert json.loads(inside(html, "scene")) == scene.as_dict() | {"t": 3, "view": "slice"}
    modules = unpacked(html, "modules").decode()
    for part in ("function localRun(", "class Random ", "function openStandalone("):
        assert part in modules
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy_hash(modules) in policy
    assert "connect-src" not in policy, "nothing is fetched"
    assert "unsafe" not in policy
    assert not re.search(r'(?:src|href)="', html)


def test_the_lab_is_exported_to_a_folder_or_a_file(tmp_path):
    assert export_lab(tmp_path / "site") == tmp_path / "site" / "index.html"
    assert export_lab(tmp_path / "deep" / "Lab.HTML") == tmp_path / "deep" / "Lab.HTML"
    assert (tmp_path / "site" / "index.html").read_text(encoding="utf-8") == lab_file()


# --------------------------------------------------------------------------------------------------------- estimators


@pytest.mark.parametrize(
    "estimator",
    [
        Perceptron(shuffle=False, eta0=3.0, tol=None, max_iter=7),
        Perceptron(class_weight={-1: 2.0}, max_iter=20),
        VotedPerceptron(max_iter=4),
        KernelPerceptron(max_iter=10),
        MaximumMargin(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_copy_of_an_estimator_is_recorded_as_it_is(estimator):
    X, y = two_moons(40, seed=3)
    run = run_in(one_file(estimator, X, y, names=["length", "width"]))
    fitted = type(estimator)(**estimator.get_params()).fit(X, y)
    assert run.about["reason"] == fitted.run_.reason
    assert run.about["names"] == ["length", "width"]
    assert run.about["classes"] == ["-1", "+1"]
    assert run.about["accuracy"] == np.mean(fitted.predict(X) == y)
    assert not hasattr(estimator, "run_"), "the estimator itself is left alone"
    np.testing.assert_array_equal(run.arrays["X"], X)


def test_a_bound_is_claimed_only_where_the_theorem_holds():
    X, y = logical("or")
    assert run_in(one_file(Perceptron(shuffle=False), X, y)).about["bound"] == 27
    for other in (Perceptron(class_weight={-1: 2.0}), Perceptron(init=([1.0, 1.0], 1.0)), Perceptron(penalty="l2")):
        assert run_in(one_file(other, X, y)).about["bound"] is None
    assert run_in(one_file(Perceptron(), 0.01 * X, y)).about["bound"] is None, "the bias moves by less than one"


def test_labels_may_be_words_and_features_many():
    X = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]])
    run = run_in(one_file(Perceptron(), X, ["no", "yes", "no", "yes"]))
    assert run.about["classes"] == ["no", "yes"]
    assert run.about["box"] is None


def test_long_runs_are_recorded_as_far_as_a_page_can_show_them():
    (copy, _, _), scene = scene_of(Perceptron(max_iter=10**6), np.arange(4000.0).reshape(-1, 2), np.arange(2000) % 2)
    assert copy.max_iter == scene.limit(2000) == 10


def test_what_the_lab_cannot_show_is_rejected_with_a_message():
    X, y = logical("or")
    with pytest.raises(InvalidInput, match="not a learner of the lab"):
        one_file(AssociationUnits(), X, y)
    with pytest.raises(InvalidInput, match="2 to 2000 rows"):
        one_file(Perceptron(), np.zeros((2001, 2)), np.arange(2001) % 2)
    with pytest.raises(InvalidInput, match="not a number or a string"):
        one_file(Perceptron(schedule=lambda epoch: 1.0), X, y)
