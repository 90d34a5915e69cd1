"""The tests mirror the packages, and no module, function or parameter list grows beyond what one can read."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "rosenblatt"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
modules = pytest.mark.parametrize("module", MODULES, ids=str)

MOST_LINES = 600
MOST_LINES_OF_A_FUNCTION = 60
MOST_PARAMETERS = 10
MOST_PATHS = 15
# Of all modules that `from rosenblatt import train` loads.
MOST_LINES_OF_TRAIN = 4000

BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler, ast.Assert, ast.comprehension)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def functions(tree):
    """Yield every function of a module, methods and functions inside functions too."""
    return (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))


def parse(module):
    return ast.parse((SOURCE / module).read_text())


def lines_of_body(function):
    """Lines from the first statement after the docstring to the last."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def parameters(function):
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    extra = [one for one in (function.args.vararg, function.args.kwarg) if one is not None]
    return len([one for one in named if one.arg not in ("self", "cls")]) + len(extra)


def paths(function):
    """McCabe's cyclomatic complexity: one, and one more for each way in which the flow may part.

    Functions defined inside count by themselves.
    """
    total, open_nodes = 1, list(ast.iter_child_nodes(function))
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            continue
        total += isinstance(node, BRANCHES)
        if isinstance(node, ast.comprehension):
            total += len(node.ifs)
        if isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        if isinstance(node, ast.Match):
            total += len(node.cases)
        open_nodes.extend(ast.iter_child_nodes(node))
    return total


def says_why(module, function):
    """Whether a comment of the function's section says what a bundle of its parameters would cost in Numba."""
    lines = (SOURCE / module).read_text().splitlines()
    heading = max([0, *(n for n, line in enumerate(lines[: function.lineno]) if line.startswith("# ---"))])
    comments = [line.partition("#")[2] for line in lines[heading : function.end_lineno] if "#" in line]
    return "Numba" in " ".join(comments)


def test_the_counter_counts():
    source = (
        "def f(a, *b, c=1, **d):\n"
        "    '''Text.'''\n"
        "    if a and b:\n"
        "        return [x for x in b if x]\n"
        "    try:\n"
        "        return 1 if c else 2\n"
        "    except ValueError:\n"
        "        while d: pass\n"
    )
    function = next(functions(ast.parse(source)))
    # 1 + if + and + comprehension + its if + conditional expression + except + while
    assert (paths(function), parameters(function), lines_of_body(function)) == (8, 4, 6)


@modules
def test_every_module_has_a_test_file_in_the_same_place(module):
    if module.name == "__init__.py" and len(parse(module).body) == 1:
        return  # a docstring alone
    name = "init" if module.name == "__init__.py" else module.stem
    wanted = Path("tests") / module.parent / f"test_{name}.py"
    assert (ROOT / wanted).is_file(), f"src/rosenblatt/{module} has no tests: write {wanted}"


def test_every_folder_of_tests_is_a_package_or_says_what_it_holds():
    packages = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("__init__.py")} - {"."}
    others = {"oracles", "attacks", "laws", "typing"}
    found = {path.parent.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("*.py")} - {"."}
    assert found <= packages | others, f"{sorted(found - packages - others)} mirror no package"


def test_a_file_of_tests_that_cannot_be_imported_fails(tmp_path):
    for name in ("pyproject.toml", "tests/conftest.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "tests" / "test_moved.py").write_text("from rosenblatt.jit import moved_elsewhere\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "engine.py").write_text("import an_engine_that_is_not_installed\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert "cannot import name 'moved_elsewhere'" in found
    assert "1 skipped, 1 error" in found


@modules
def test_no_module_is_too_long(module):
    lines = len((SOURCE / module).read_text().splitlines())
    assert lines <= MOST_LINES, f"{module} has {lines} lines: split it"


@modules
def test_no_function_is_too_long(module):
    long = {
        f"{function.name} ({lines_of_body(function)} lines)"
        for function in functions(parse(module))
        if lines_of_body(function) > MOST_LINES_OF_A_FUNCTION
    }
    assert not long, f"{module}: {long}"


@modules
def test_no_function_takes_too_many_parameters(module):
    many = {
        f"{function.name} ({parameters(function)} parameters)"
        for function in functions(parse(module))
        if parameters(function) > MOST_PARAMETERS
        and function.name != "__init__"
        and not (module.parent.name == "compiled" and says_why(module, function))
    }
    assert not many, f"{module}: {many}. Bundle them, or say in a comment what the bundle would cost a compiled loop"


@modules
def test_no_function_has_too_many_paths(module):
    tangled = {
        f"{function.name} ({paths(function)} paths)"
        for function in functions(parse(module))
        if paths(function) > MOST_PATHS
    }
    assert not tangled, f"{module}: {tangled}"


def test_who_reads_train_reads_little():
    script = (
        "import sys\n"
        "from rosenblatt import train\n"
        "own = [module.__file__ for name, module in sys.modules.items() if name.split('.')[0] == 'rosenblatt']\n"
        "print('\\n'.join(own))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert len(found) > 20
    read = {Path(path).relative_to(SOURCE) for path in found}
    assert sum(len((SOURCE / module).read_text().splitlines()) for module in read) <= MOST_LINES_OF_TRAIN
    assert not {"proof", "exact", "separability", "files"} & {module.parts[0] for module in read}
