"""What the documents say is true: examples, commands with what they print, figures, links, lists of names."""

import doctest
import os
import re
import subprocess
import sys
import threading
import tomllib
import warnings
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from commands import mails, svmlight
from rosenblatt.cli.main import main
from rosenblatt.lab.page import one_file
from rosenblatt.lab.scene import Scene
from rosenblatt.markup import palette
from rosenblatt.training.algorithm import Algorithm, TrialAlgorithm
from rosenblatt.training.trainer import EpochRunner

ROOT = Path(__file__).parents[1]
SOURCE = str(ROOT / "src" / "rosenblatt") + "/"
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pytest.mark.filterwarnings("ignore:Maximum Likelihood optimization failed")  # a page is about this warning
@pages
def test_examples_give_what_they_show(page):
    if "import statsmodels" in page.read_text():
        pytest.importorskip("statsmodels", reason="a page has a model of statsmodels: pip install --group test")
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


@pages
def test_drawings_are_drawn(page):
    for code in re.findall(r"```\{drawing\}[^\n]*\n(.*?)```", page.read_text(), re.DOTALL):
        names = {}
        exec(code, names)
        assert hasattr(names["ax"], "figure")


def luminance(colour):
    """As the WCAG has it."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_no_ink_of_a_drawing_is_lost_on_a_dark_page(monkeypatch):
    pytest.importorskip("sphinx", reason="the site is built by Sphinx: pip install --group docs")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    drawing = import_module("extensions.drawing")
    inks = [palette.INK, palette.SOFT, palette.AXES, palette.UPDATE, palette.SOLUTIONS, palette.SKY, "#000000"]
    ground = luminance(drawing.PAPER)
    blocks = re.findall(r"```\{drawing\}.*?```", "".join(page.read_text() for page in PAGES), re.DOTALL)
    own = {colour.lower() for block in blocks for colour in re.findall(r"#[0-9A-Fa-f]{6}", block)}
    assert own
    for ink in (*inks, *palette.CLASSES, *own):
        assert (luminance(drawing.dark(ink)) + 0.05) / (ground + 0.05) > 3, ink


@pages
def test_runs_to_be_played_are_scenes_of_the_lab_and_small(page):
    for block in re.findall(r"```\{lab\}[^\n]*\n(.*?)```", page.read_text(), re.DOTALL):
        scene = Scene.from_query("&".join(block.split()))
        assert Scene.from_query(scene.to_query()) == scene
        assert len(one_file(scene)) < 200_000, "a page of runs should open at once"


def steps(page):
    """What a page has its reader do in a terminal, in order: (language, lines) of its sessions and of its scripts."""
    for language, block in re.findall(r"```(console|python)\n(.*?)```", page.read_text(), re.DOTALL):
        if language == "console" or ">>>" not in block:
            yield language, block.splitlines()


def sessions(lines):
    """The commands of a block that shows a terminal, each with the lines that it is said to print."""
    commands = []
    for line in lines:
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


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


def assert_prints(shown, printed, command):
    """Each shown line is among those printed, in this order; dots stand for any."""
    rest = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in (" ".join(line.split()) for line in shown):
        if line and line != "...":
            assert line in rest, f"{command} does not print: {line}\n{printed}"


@pytest.mark.long
@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes long without compilation")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != "serving.md"],  # tests/serving/test_how_to.py starts its service
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_on_the_pages_run_and_print_what_is_shown(page, files_of_the_pages, monkeypatch):
    monkeypatch.chdir(files_of_the_pages)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    names = {}
    for language, lines in steps(page):
        if language == "python":
            exec("\n".join(lines), names)
            continue
        for line, shown in sessions(lines):
            if line.startswith("rosenblatt "):
                command = line.replace("rosenblatt ", f"{sys.executable} -m rosenblatt.cli.main ", 1)
                done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
                assert done.returncode == 0, f"{line}: {done.stderr}"
                assert_prints(shown, done.stdout + done.stderr, line)


# Points of a percentage by which an accuracy may differ from the shown one: the data may be another version's.
MOST_POINTS = 2.0


def test_the_script_of_the_readme_prints_what_is_shown(capsys):
    script, shown = re.search(
        r"```python\n(.*?)```\n\n```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    ).groups()
    exec(script, {})
    number = re.compile(r"\d+\.\d+")
    printed = capsys.readouterr().out
    assert number.sub("#", printed) == number.sub("#", shown)
    shares = [[float(share) for share in re.findall(r"(\d+\.\d+)%", text)] for text in (printed, shown)]
    assert shares[0] == pytest.approx(shares[1], abs=MOST_POINTS)


def test_a_line_that_a_command_does_not_print_is_noticed():
    assert_prints(["a  b", "...", "c"], "a b\nx\nc\n", "command")
    with pytest.raises(AssertionError, match="does not print: b"):
        assert_prints(["c", "b"], "b\nc\n", "command")


def test_the_reference_lists_every_public_name():
    text = (ROOT / "docs" / "reference" / "api.md").read_text()
    listed = {
        module: set(re.findall(r"^   (\w+)$", block, re.MULTILINE))
        for module, block in re.findall(r"currentmodule:: ([\w.]+)\n(.*?)(?=\.\. currentmodule|\Z)", text, re.DOTALL)
    }
    for module, names in listed.items():
        home = import_module(module)
        public = getattr(home, "__all__", None) or [
            name for name, value in vars(home).items() if getattr(value, "__module__", "") == module and name[0] != "_"
        ]
        callables = {name for name in public if callable(getattr(home, name))}
        assert callables - {"Loss"} == names, module


def test_the_page_on_theory_has_every_bound_and_tests_that_exist():
    text = (ROOT / "docs" / "explanation" / "theory.md").read_text()
    assert set(re.findall(r"`~rosenblatt\.bounds\.(\w+)`", text)) == set(import_module("rosenblatt.bounds").__all__)
    tests = re.findall(r"\[(test_\w+)\]\(\.\./\.\./(tests/[\w/]+\.py)\)", text)
    assert len(tests) > 30
    for name, path in tests:
        assert f"def {name}(" in (ROOT / path).read_text(), f"{path} has no {name}"


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    if "dev" not in version:
        assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_page_on_learners_knows_what_each_can_do():
    parameters = ("warm_start", "class_weight", "early_stopping", "n_jobs", "shards")
    text = (ROOT / "docs" / "reference" / "learners.md").read_text()
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|(.+)\|$", text, re.MULTILINE)
    listed = {}
    for names, cells in rows:
        learns, *answers = (cell.strip() for cell in cells.split("|"))
        if len(answers) == len(parameters) + 1:
            for name in re.findall(r"\w+", names):
                listed[name] = (learns == "yes", *answers)
    estimators = {name: getattr(rosenblatt, name) for name in rosenblatt.__all__}
    trained = {name for name, cls in estimators.items() if hasattr(cls, "fit") and hasattr(cls, "predict")}
    assert listed.keys() == trained
    for name, (streams, *answers, files) in listed.items():
        model = estimators[name]()
        assert hasattr(model, "partial_fit") == hasattr(model, "learn_one") == streams, name
        assert bool(model.facts.command) == (files == "yes"), name
        for parameter, answer in zip(parameters, answers, strict=True):
            assert (parameter in model.get_params()) == (answer == "yes"), f"{name}, {parameter}"


def test_a_commit_is_checked_by_the_versions_of_make_lint():
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["lint"]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    for tool in ("ruff", "mypy", "codespell", "zizmor"):
        revision = re.search(rf"/(?:mirrors-)?{tool}(?:-pre-commit)?\n +rev: v(.+)", hooks)
        assert f"{tool}=={revision[1]}" in lint


def test_training_without_estimators_does_not_load_scikit_learn():
    script = "import sys, rosenblatt; rosenblatt.train([[0], [1]], [0, 1]); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "False"


# ---------------------------------------------------------------------------------------------------------- three walks


def test_the_architecture_page_names_what_is_there():
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    text = page.split("## Three walks")[1].split("## Public")[0]
    named = re.findall(r"\b([a-z]\w*(?:/\w+)+)((?:\.\w+)*)", text)
    assert len(named) > 40
    for path, names in named:
        found = import_module("rosenblatt." + path.replace("/", "."))
        for name in names.split(".")[1:]:
            assert hasattr(found, name), f"{path}{names}"
            found = getattr(found, name)


def test_the_page_on_reading_names_what_is_there():
    page = (ROOT / "docs" / "explanation" / "reading.md").read_text()
    named = re.findall(r"\(../../src/([\w/]+)\.py\), (`[^|]+`) \|", page)
    assert len(named) > 5
    for path, names in named:
        module = import_module(path.replace("/", "."))
        first, *others = re.findall(r"`(\w+)`", names)
        assert all(hasattr(module, name) or hasattr(getattr(module, first), name) for name in [first, *others]), names


def floors():
    """The floor of each package, from the contract on imports; higher numbers are lower floors."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {package: floor for floor, layer in enumerate(layers) for package in layer.split(" | ")}


ELSEWHERE = "another thread", ""


def stacks_of(walk):
    """Run a walk; return the stack of every call of the package's own functions, each as (file, name).

    A stack of another thread than this one begins with `ELSEWHERE`.
    """
    stacks, found = defaultdict(lambda: [ELSEWHERE]), set()
    stacks[threading.get_ident()] = []

    def watch(frame, event, _):
        stack = stacks[threading.get_ident()]
        if event == "return" and stack and stack[-1] != ELSEWHERE:
            stack.pop()
        if event == "call":
            path, name = frame.f_code.co_filename, frame.f_code.co_qualname
            stack.append((path.removeprefix(SOURCE), name) if path.startswith(SOURCE) else None)
            if stack[-1]:
                found.add(tuple(filter(None, stack)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threading.setprofile(watch)
        sys.setprofile(watch)
        try:
            walk()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return found


def calls_that_go_up(walk):
    """Run a walk; return the calls between packages that go up a floor: files of caller and callee, and its name."""
    floor = floors()
    pairs = {stack[-2:] for stack in stacks_of(walk) if len(stack) > 1 and stack[-2] != ELSEWHERE}

    def floor_of(file, other):  # the package's own table of public names is on no floor
        return floor.get(Path(file).parts[0].removesuffix(".py"), other)

    found = {(caller, callee, name) for (caller, _), (callee, name) in pairs}
    return {call for call in found if floor_of(call[1], len(floor)) < floor_of(call[0], 0)}


INTERFACES = EpochRunner, Algorithm, TrialAlgorithm


def is_handed_down(caller, callee, name):
    """Whether a call goes through an interface that is declared below."""
    method = name.rpartition(".")[2]
    if caller.startswith("training/"):
        called_back = callee.startswith("cli/") and caller in ("training/chunked.py", "training/trainer.py")
        return called_back or any(hasattr(cls, method) or method in cls.__annotations__ for cls in INTERFACES)
    if caller == "engine/jit.py":  # the function that `compiled` decorates
        return True
    return caller == "storage/values.py"  # check and constructor of a registered record


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


def train(X, y, folder):
    rows = [f"{label} " + " ".join(f"{j}:{x}" for j, x in enumerate(row, 1)) for row, label in zip(X, y, strict=True)]
    (folder / "data.svm").write_text("\n".join(rows) + "\n")
    arguments = ["train", str(folder / "data.svm"), "--model", str(folder / "m"), "--checkpoint", str(folder / "c")]
    main(arguments, standalone_mode=False)


WALKS = {
    "fit": lambda X, y, _: rosenblatt.Perceptron().fit(X, y).predict(X),
    "train": train,
    "certify": lambda X, y, _: [rosenblatt.verify(rosenblatt.certify(X, s), X, s) for s in (y, X[:, 0] > 0)],
    "kernels": lambda X, y, _: [rosenblatt.KernelPerceptron(budget=b).fit(X, y).predict(X) for b in (None, 5)],
    "files": files,
    "streams": lambda X, y, _: stream(X, y),
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_no_call_goes_up_a_floor_unless_it_was_handed_down(walk, sides, tmp_path):
    up = calls_that_go_up(lambda: walk(*sides, tmp_path))
    assert not {call for call in up if not is_handed_down(*call)}


def test_a_call_that_goes_up_a_floor_is_noticed(sides):
    up = calls_that_go_up(lambda: rosenblatt.KernelPerceptron().fit(*sides))
    assert ("training/trainer.py", "kernels/runner.py", "KernelRunner.run_epoch") in up


def lines_of_walk(title):
    """The lines of a walk on the architecture page: how far each is indented, and the calls that it names."""
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    block = page.split(f"### `{title}`\n\n```\n")[1].split("```")[0]
    for line in block.splitlines():
        module, calls = "", re.split(r" {2,}|: ", line.strip())[0].split(", ")
        indent = (len(line) - len(line.lstrip())) // 2
        for i, call in enumerate(calls):  # one without a file is of the file before it
            module = call.partition(".")[0] if "/" in call else module
            calls[i] = call if "/" in call else f"{module}.{call}"
        yield indent, calls


def is_call(made, named):
    """Whether a call that was made is the one that the page names: a function, or any of a class or a file."""
    file, _, name = named.partition(".")
    path, qualname = made
    return path == f"{file}.py" and (not name or qualname == name or qualname.startswith(f"{name}."))


@pytest.mark.parametrize(
    ("title", "walk"),
    [("Perceptron().fit(X, y)", "fit"), ("rosenblatt train data.svm --model m", "train"), ("certify(X, y)", "certify")],
)
def test_each_line_of_a_walk_is_called_by_the_one_above_it(title, walk, sides, tmp_path):
    stacks = stacks_of(lambda: WALKS[walk](*sides, tmp_path))
    parents, missing = [], []
    for indent, calls in lines_of_walk(title):
        for call in calls:
            under = [stack for stack in stacks if is_call(stack[-1], call)]
            if indent:
                above = parents[indent - 1]
                under = [stack for stack in under if ELSEWHERE in stack or any(is_call(made, above) for made in stack)]
            if not under and not call.startswith("engine/"):  # compiled code leaves no trace
                missing.append(f"{call} under {parents[indent - 1] if indent else 'nothing'}")
        parents[indent:] = calls[:1]
    assert not missing
