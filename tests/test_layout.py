"""What importing loads, and what the runner of the tests notices."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "rosenblatt"


def test_a_file_of_tests_that_cannot_be_imported_fails(tmp_path):
    for name in ("pyproject.toml", "tests/conftest.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "tests" / "test_moved.py").write_text("from rosenblatt.engine.jit import moved_elsewhere\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "engine.py").write_text("import an_engine_that_is_not_installed\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert "cannot import name 'moved_elsewhere'" in found
    assert "1 skipped, 1 error" in found


def test_train_loads_no_proofs_and_no_files():
    script = (
        "import sys\n"
        "from rosenblatt import train\n"
        "own = [module.__file__ for name, module in sys.modules.items() if name.split('.')[0] == 'rosenblatt']\n"
        "print('\\n'.join(own))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert len(found) > 20
    read = {Path(path).relative_to(SOURCE) for path in found}
    assert not {"prover", "files"} & {module.parts[0] for module in read}
