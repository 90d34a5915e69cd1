"""Check the files of a release: what is in them, what they say of themselves, and whether they work elsewhere.

    python -m build && python tools/check_release.py dist

Needs pip, build and twine; makes an environment in a temporary folder. Builds both again, and compares the bytes.
Installs the wheel alone, fits, runs a command, adds the extra `lab` and starts the lab; then unpacks the sdist and runs
a sample of its tests against the installed wheel.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Tests that need the package, pytest and hypothesis, and nothing else.
SAMPLE = [
    "tests/laws/test_worked_examples.py",
    "tests/laws/test_perceptron_laws.py",
    "tests/bounds",
    "tests/storage",
    "tests/test_evaluation.py",
]
FIT = """
import rosenblatt
X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 1]
assert rosenblatt.Perceptron(shuffle=False).fit(X, y).coef_.tolist() == [[2, 2]]
assert rosenblatt.verify(rosenblatt.certify(X, y), X, y)
print(rosenblatt.__version__, "fits and proves.")
"""

# Starts the lab as its users do, and asks it for its page and for what the page loads.
LAB = """
import re, subprocess, sys, urllib.request
lab = subprocess.Popen([sys.argv[1], "lab", "--no-browser"], stdout=subprocess.PIPE, text=True)
try:
    address = re.search(r"http://\\S+", lab.stdout.readline())[0]
    page = urllib.request.urlopen(address, timeout=60).read().decode()
    parts = re.findall(r'(?:src|href)="(static/[^"]+)"', page)
    assert parts, page
    sizes = [len(urllib.request.urlopen(address + part, timeout=60).read()) for part in parts]
    assert min(sizes) > 0
    learners = urllib.request.urlopen(address + "catalogue", timeout=120).read().count(b'"lecture"')
    print("The lab starts: a page,", len(parts), "files that it names,", learners, "entries with a lecture.")
finally:
    lab.terminate()
    lab.wait()
"""


def check(holds: bool, fault: str) -> None:
    """Raise if something does not hold."""
    if not holds:
        raise SystemExit(f"error: {fault}")


def check_wheel(wheel: Path) -> None:
    """Check the contents and the metadata of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = Parser().parsestr(archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode())
    stray = [n for n in names if not n.startswith(("rosenblatt/", f"rosenblatt-{PROJECT['version']}.dist-info/"))]
    check(not stray, f"the wheel has files of others: {stray[:5]}.")
    source = {
        str(p.relative_to(ROOT / "src"))
        for p in (ROOT / "src" / "rosenblatt").rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    }
    packed = {n for n in names if n.startswith("rosenblatt/")}
    check(packed == source, f"the wheel and src differ in {sorted(packed ^ source)[:5]}.")
    for field, value in (
        ("Name", "rosenblatt"),
        ("Version", PROJECT["version"]),
        ("Requires-Python", PROJECT["requires-python"]),
        ("License-Expression", PROJECT["license"]),
    ):
        check(metadata[field] == value, f"{field} of the wheel is {metadata[field]!r}, not {value!r}.")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, {len(names)} files.")


def check_sdist(sdist: Path) -> None:
    """Check that the sdist has what its readers need, and nothing that belongs to a machine."""
    with tarfile.open(sdist) as archive:
        names = [n.partition("/")[2] for n in archive.getnames()]
    for needed in (
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "SECURITY.md",
        "pyproject.toml",
        "Makefile",
        "docs/conf.py",
        "examples/or_gate.py",
        "tests/conftest.py",
        "tools/check_certificate.py",
    ):
        check(needed in names, f"{needed} is not in the sdist.")
    stray = [
        n for n in names if n.startswith((".venv", "build/", "dist/", "docs/reference/generated")) or "__pycache__" in n
    ]
    check(not stray, f"the sdist has files of a machine: {stray[:5]}.")
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.2f} MB, {len(names)} files.")


def check_reproducible(*paths: Path) -> None:
    """Check that building again, at another time and in another folder, gives the same bytes."""
    with tempfile.TemporaryDirectory() as again:
        subprocess.run([sys.executable, "-m", "build", "--outdir", again, ROOT], check=True, stdout=subprocess.DEVNULL)
        for path in paths:
            check(
                path.read_bytes() == (Path(again) / path.name).read_bytes(), f"{path.name} has other bytes each time."
            )
            print(f"{path.name}: sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}, as built again.")


def try_elsewhere(wheel: Path, sdist: Path) -> None:
    """Install the wheel in an environment of its own; fit, run a command and a sample of the tests."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

        def run(*arguments: object) -> None:
            subprocess.run([str(a) for a in arguments], check=True, cwd=folder, env=environment)

        run(python, "-m", "pip", "install", "--quiet", wheel.resolve())
        run(python, "-c", FIT)
        run(python.parent / "rosenblatt", "--version")
        run(python, "-m", "pip", "install", "--quiet", f"{wheel.resolve()}[lab]")
        run(python, "-c", LAB, python.parent / "rosenblatt")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        run(
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "pytest",
            "pytest-cov",
            "hypothesis",
            "pandas",
            "safetensors",
            "python-flint",
        )
        unpacked = next(folder.glob("rosenblatt-*"))
        tests = [unpacked / path for path in SAMPLE]
        # From another folder, so that it is the wheel that is tested and not the source beside the tests.
        run(python, "-m", "pytest", "-q", "-c", unpacked / "pyproject.toml", "--rootdir", unpacked, *tests)


def main() -> None:
    """Check the wheel and the sdist of this version."""
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/check_release.py DIST, the folder that `python -m build` filled")
    dist = Path(sys.argv[1])
    wheel, sdist = (
        dist / f"rosenblatt-{PROJECT['version']}-py3-none-any.whl",
        dist / f"rosenblatt-{PROJECT['version']}.tar.gz",
    )
    for path in (wheel, sdist):
        check(path.exists(), f"{path} is not there. Run: python -m build")
    check_wheel(wheel)
    check_sdist(sdist)
    check_reproducible(wheel, sdist)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], check=True)
    try_elsewhere(wheel, sdist)
    print("The release is in order.")


if __name__ == "__main__":
    main()
