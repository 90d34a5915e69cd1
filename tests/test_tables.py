"""The tables of the documents say what learners and file formats say of themselves."""

import subprocess
import sys
from pathlib import Path

from tools import tables

import rosenblatt

ROOT = Path(__file__).parents[1]


def test_no_table_is_out_of_date():
    assert not [str(path.relative_to(ROOT)) for path in tables.outdated()], "run make tables"


def test_what_is_out_of_date_is_written():
    page = (ROOT / "docs" / "reference" / "learners.md").read_text()
    assert tables.of_document(page.replace("few relevant features", "many features")) == page
    source = Path(rosenblatt.__file__).read_text()
    line = "    from rosenblatt.learners.winnow import Winnow as Winnow\n"
    assert tables.of_package(source.replace(line, "")) == source != source.replace(line, "")


def test_the_tool_says_which_file_is_out_of_date():
    done = subprocess.run([sys.executable, "-m", "tools.tables"], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "")
