"""A new learner is one file: with it there, the learner is wherever learners are listed or looked up."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rosenblatt.learners import ALL, family

ROOT = Path(__file__).parents[1]
MODULE = '''
"""A learner that no other file knows."""

from rosenblatt.engine.rules import rule
from rosenblatt.learners import shared
from rosenblatt.learners.base import Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import real
from rosenblatt.training.first_order import FirstOrder


@rule
def relaxation(margin, norm, rate, overshoot=1.0):
    """Step overshoot (1 - m) / |x|^2 when m = y f(x) < 1. Agmon (1954)."""
    return (0.0, 0.0) if margin >= 1.0 else (overshoot * (1.0 - margin) / norm, 1.0 - margin)


class Relaxation(LinearClassifier):
    """The relaxation method: go beyond each row's half-space.

    Parameters
    ----------
    {parameters}
    """

    overshoot: float = real(
        default=1.0, text="How far to go.", above=0, wanted="a positive number", range=(0.1, 1.9, 0.1)
    )
    max_iter: int = shared.MAX_ITER
    multiclass: shared.Multiclass = shared.MULTICLASS

    facts = Facts(
        published=1954,
        does="goes beyond each row's half-space",
        when="it is a test",
        command="relaxation",
        title="Relaxation",
        rule="perceptron",
    )

    def _algorithm(self):
        return FirstOrder(relaxation(overshoot=float(self.overshoot)))
'''
X, Y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.0, 3.0]], [0, 1, 1, 0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learners")
    (folder / "relaxation.py").write_text(MODULE)
    rows = [f"{label},{a},{b}" for (a, b), label in zip(X, Y, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["label,a,b", *rows]))
    return folder


def answer(folder, script):
    """Return what a process prints as JSON that has the module of the learner in the package."""
    before = f"""
        import json, sys
        from pathlib import Path
        import rosenblatt, rosenblatt.learners
        rosenblatt.learners.__path__.append({str(folder)!r})
        folder, X, y = Path({str(folder)!r}), {X}, {Y}
    """
    code = textwrap.dedent(before) + textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_package_and_its_files_know_it(folder):
    script = """
        model = rosenblatt.Relaxation(overshoot=1.5).fit(X, y)
        rosenblatt.save(model, folder / "model")
        again = rosenblatt.load(folder / "model")
        print(json.dumps([
            "Relaxation" in rosenblatt.__all__, "Relaxation" in dir(rosenblatt), list(model.get_params()),
            again.overshoot, again.predict(X).tolist() == model.predict(X).tolist(),
        ]))
    """
    assert answer(folder, script) == [True, True, ["max_iter", "multiclass", "overshoot"], 1.5, True]


def test_the_command_line_trains_it_with_its_own_option_and_without_scikit_learn(folder):
    script = """
        from rosenblatt.cli.main import main
        rows, model = str(folder / "rows.csv"), str(folder / "trained")
        options = ["--label", "label", "--model", model, "--learner", "relaxation", "--overshoot", "1.5", "--quiet"]
        main(["train", rows, *options], standalone_mode=False)
        training = rosenblatt.load_linear(model).origin["training"]
        print(json.dumps([training["learner"], training["parameters"]["overshoot"], "sklearn" in sys.modules]))
    """
    assert answer(folder, script) == ["relaxation", 1.5, False]


def test_the_lab_shows_it_with_its_slider(folder):
    script = """
        from rosenblatt.lab.catalogue import catalogue
        found = {learner["name"]: learner for learner in catalogue()["learners"]}["Relaxation"]
        slider = found["params"][0]
        print(json.dumps([found["title"], found["rule"], slider["name"], slider["min"], slider["max"]]))
    """
    assert answer(folder, script) == ["Relaxation", "perceptron", "overshoot", 0.1, 1.9]


def test_onnx_converts_it(folder):
    pytest.importorskip("skl2onnx")
    script = """
        graph = rosenblatt.to_onnx(rosenblatt.Relaxation().fit(X, y))
        print(json.dumps([output.name for output in graph.graph.output]))
    """
    assert answer(folder, script) == ["label", "scores"]


def test_river_takes_it(folder):
    pytest.importorskip("river")
    script = """
        model = rosenblatt.as_river(rosenblatt.Relaxation())
        for row, label in zip(X, y):
            model.learn_one({"a": row[0], "b": row[1]}, label)
        print(json.dumps(model.predict_one({"a": 2.0, "b": 2.0})))
    """
    assert answer(folder, script) in Y


def test_the_tables_of_the_documents_list_it(folder):
    script = """
        from tools.tables import TABLES, of_package
        tables = {name: [line for line in make() if "Relaxation" in line] for name, make in TABLES.items()}
        line = "    from rosenblatt.learners.relaxation import Relaxation as Relaxation"
        print(json.dumps([tables, line in of_package(Path(rosenblatt.__file__).read_text())]))
    """
    tables, typed = answer(folder, script)
    assert tables["learners"] == ["| `Relaxation` | 1954 | goes beyond each row's half-space | it is a test |"]
    assert tables["abilities"] == ["| `Relaxation` | yes | no | no | no | no | no | yes |"]
    assert tables["reference"] == ["   Relaxation"]
    assert typed


def test_the_registry_imports_a_learner_when_it_is_looked_up():
    script = "import sys; from rosenblatt.learners import ALL; len(ALL); list(ALL); 'AROW' in ALL; 'numpy' in ALL; "
    done = subprocess.run(
        [sys.executable, "-c", script + "print('numpy' in sys.modules)"], capture_output=True, text=True
    )
    assert done.stdout == "False\n"
    assert ALL["AROW"].__name__ == "AROW"
    with pytest.raises(KeyError):
        ALL["nothing"]


def test_the_family_is_in_the_order_of_publication_with_transformers_last():
    years = [cls.facts.published for cls in family() if not hasattr(cls, "transform")]
    assert years == sorted(years)
    assert [hasattr(cls, "transform") for cls in family()] == sorted(hasattr(cls, "transform") for cls in family())
    assert {cls.__name__ for cls in family()} <= set(ALL)
