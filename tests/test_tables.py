"""The tables of the documents say what the learners say of themselves."""

import subprocess
import sys
from pathlib import Path

from tools.tables import ROOT, of_document, of_package, outdated

import rosenblatt


def test_no_table_is_out_of_date():
    assert not [str(path.relative_to(ROOT)) for path in outdated()], "run make tables"


def test_what_is_out_of_date_is_written():
    readme = (ROOT / "README.md").read_text()
    assert of_document(readme.replace("few relevant features", "many features")) == readme
    source = Path(rosenblatt.__file__).read_text()
    line = "    from rosenblatt.learners.winnow import Winnow as Winnow\n"
    assert of_package(source.replace(line, "")) == source != source.replace(line, "")


def test_the_tool_says_which_file_is_out_of_date():
    done = subprocess.run([sys.executable, "-m", "tools.tables"], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "")
