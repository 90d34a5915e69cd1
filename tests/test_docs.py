"""What the documents say is true."""

import doctest
import os
import re
import subprocess
import sys
import tomllib
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from commands import mails, svmlight
from rosenblatt.learn.trainer import Presenter

ROOT = Path(__file__).parents[1]
SOURCE = str(ROOT / "src" / "rosenblatt") + "/"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pages
def test_examples_give_what_they_show(page):
    failures, _ = doctest.testfile(str(page), module_relative=False)
    assert failures == 0


@pages
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pages
def test_links_to_headings_find_them(page):
    for path, heading in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        target = page.parent / path if path else page
        titles = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
        anchors = [re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles]
        assert heading in anchors, f"{target.name} has no heading {heading}"


def shell_blocks(page):
    """The commands of each block of a page that shows a terminal."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
    return [[line[2:] for line in block.splitlines() if line.startswith("$ rosenblatt ")] for block in blocks]


@pytest.fixture
def files_of_the_pages(tmp_path):
    """The files that the commands of the pages are about."""
    random = np.random.default_rng(0)
    mails(tmp_path / "mails.csv", n=200)
    mails(tmp_path / "new-mails.csv", n=50, seed=1)
    for day in (1, 2):
        svmlight(tmp_path / f"day-{day}.svm", n=300, seed=day)
    ages, pressures = random.integers(20, 80, 60), random.normal(120, 15, 60).round(1)
    rows = [f"{i},{ages[i]},{pressures[i]},{'red' if i % 5 else 'blue'},{7 + i % 3},{i % 2}" for i in range(60)]
    (tmp_path / "patients.csv").write_text("\n".join(["id,age,pressure,group,code,outcome", *rows]) + "\n")
    return tmp_path


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes long without compilation")
@pages
def test_commands_on_the_pages_run(page, files_of_the_pages):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    for line in (line for block in shell_blocks(page) for line in block):
        shown = line.replace("rosenblatt ", f"{sys.executable} -m rosenblatt.cli.main ", 1)
        done = subprocess.run(
            shown, shell=True, cwd=files_of_the_pages, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_the_readme_knows_what_each_member_can_do():
    parameters = ("warm_start", "class_weight", "early_stopping", "n_jobs")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|(.+)\|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    told = {}
    for names, cells in rows:
        learns, *answers = (cell.strip() for cell in cells.split("|"))
        if len(answers) == len(parameters):
            for name in re.findall(r"\w+", names):
                told[name] = (learns != "no" and not learns.startswith("no;"), "only" not in learns, *answers)
    estimators = {name: getattr(rosenblatt, name) for name in rosenblatt.__all__}
    trained = {name for name, cls in estimators.items() if hasattr(cls, "fit") and hasattr(cls, "predict")}
    assert told.keys() == trained
    for name, (streams, single, *answers) in told.items():
        model = estimators[name]()
        assert hasattr(model, "partial_fit") == streams, name
        assert hasattr(model, "learn_one") == (streams and single), name
        for parameter, answer in zip(parameters, answers, strict=True):
            assert (parameter in model.get_params()) == (answer == "yes"), f"{name}, {parameter}"


def test_training_without_estimators_does_not_load_scikit_learn():
    script = "import sys, rosenblatt; rosenblatt.train([[0], [1]], [0, 1]); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "False"


# ---------------------------------------------------------------------------------------------------------- five walks


def test_the_architecture_page_names_what_is_there():
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    named = re.findall(r"\b([a-z]\w*)/(\w+)\.(?!py\b)([A-Za-z_]\w*(?:\.\w+)?)", text.split("## Five walks")[1])
    assert len(named) > 40
    for package, module, path in named:
        found = import_module(f"rosenblatt.{package}.{module}")
        for name in path.split("."):
            assert hasattr(found, name), f"{package}/{module}.{path}"
            found = getattr(found, name)


def floors():
    """The floor of each package, from the contract on imports; higher numbers are lower floors."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {package: floor for floor, layer in enumerate(layers) for package in layer.split(" | ")}


def calls_that_go_up(walk):
    """Run a walk; return the calls between packages that go up a floor, as (caller, callee)."""
    floor, stack, found = floors(), [], set()

    def watch(frame, event, _):
        if event == "return" and stack:
            stack.pop()
        if event != "call":
            return
        path, code = frame.f_code.co_filename, frame.f_code
        here = (path.removeprefix(SOURCE), code) if path.startswith(SOURCE) else None
        caller = next((place for place in reversed(stack) if place), None)
        stack.append(here)
        if here and caller:
            above, below = (Path(name).parts[0].removesuffix(".py") for name, _ in (caller, here))
            # The package's own table of public names is on no floor.
            if floor.get(below, len(floor)) < floor.get(above, 0):
                found.add((caller[0], code))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(watch)
        try:
            walk()
        finally:
            sys.setprofile(None)
    return found


def is_handed_down(caller, code):
    """Whether a call goes through an interface that is declared below."""
    if caller in ("learn/trainer.py", "learn/reasons.py"):  # Presenter
        return hasattr(Presenter, code.co_name)
    if caller == "patience.py":  # the function that `patient` decorates
        return True
    return caller in ("storage/values.py", "storage/records.py")  # check and constructor of a registered record


@pytest.fixture(scope="module")
def sides():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    return X, (X[:, 0] + 0.3 * random.normal(size=40) > 0).astype(int)


def files(X, y, folder):
    model = rosenblatt.AveragedPerceptron().fit(X, y)
    rosenblatt.save(model, folder / "model")
    rosenblatt.load(folder / "model").predict(X)
    rosenblatt.load_linear(folder / "model").predict(X)


def stream(X, y):
    model = rosenblatt.Perceptron().partial_fit(X, y)
    model.learn_one(X[0], 1)
    model.learn_one(X[0], 2)
    model.predict_one(X[0])


WALKS = {
    "fit": lambda X, y, _: rosenblatt.Perceptron().fit(X, y).predict(X),
    "certify": lambda X, y, _: rosenblatt.verify(rosenblatt.certify(X, y), X, y),
    "kernels": lambda X, y, _: [rosenblatt.KernelPerceptron(budget=b).fit(X, y).predict(X) for b in (None, 5)],
    "files": files,
    "streams": lambda X, y, _: stream(X, y),
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_no_call_goes_up_a_floor_unless_it_was_handed_down(walk, sides, tmp_path):
    up = calls_that_go_up(lambda: walk(*sides, tmp_path))
    assert not {(caller, code.co_qualname) for caller, code in up if not is_handed_down(caller, code)}


def test_a_call_that_goes_up_a_floor_is_noticed(sides):
    up = calls_that_go_up(lambda: rosenblatt.KernelPerceptron().fit(*sides))
    assert ("learn/trainer.py", "DualPresenter.present") in {(caller, code.co_qualname) for caller, code in up}
