"""A format is one module: whatever lists, recognises, reads, writes or describes formats finds it there."""

import subprocess
import sys
from pathlib import Path

import pytest

from rosenblatt.files.formats import ALL

TOOL = Path(__file__).parents[2] / "tools" / "tables.py"
TILDE = """
from dataclasses import replace

import numpy as np

from rosenblatt.files.features import word_pieces
from rosenblatt.files.formats import Format
from rosenblatt.files.options import NAMED_OPTIONS, WORD_OPTIONS
from rosenblatt.files.parsing import LineFaults, Parsed, Parser
from rosenblatt.files.tables import joined_texts


class TildeParser(Parser):
    options = ("label_type", *NAMED_OPTIONS, *WORD_OPTIONS)
    what = "a label, a tilde and text on each line"

    def parse(self, text):
        labels, texts = zip(*(line.split(b" ~ ") for line in text.tobytes().splitlines()), strict=True)
        pieces = word_pieces(self.reading.features, *joined_texts(texts))
        lines = len(labels), np.arange(len(labels))
        return Parsed(np.array(labels).astype(str), *lines, LineFaults(self.skip), pieces)


def records(table, path, layout):
    for _, line in table.lines(path):
        label, _, text = line.decode().partition(" ~ ")
        yield {"label": label, "text": text}


def write(output, rows):
    for record in rows:
        output.write_row(f"{record['label']} ~ {record['text']}")


TILDE = Format(
    name="tilde",
    kind="text",
    endings=(".tilde",),
    rank=5,
    matches=lambda lines: all(b" ~ " in line for line in lines),
    row="`label ~ words`",
    label="before the tilde",
    parser=TildeParser,
    decide=lambda reading, sample, opening: replace(reading, label_type="text"),
    records=records,
    write=write,
)
"""
SCRIPT = """
import sys
from pathlib import Path
from rosenblatt.files import formats

folder, tool = map(Path, sys.argv[1:])
formats.__path__.append(str(folder / "more"))

from click.testing import CliRunner
from rosenblatt.cli.main import commands
from rosenblatt.errors import InvalidInput
from rosenblatt.files.conversion import convert
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import Reading

text = "spam ~ win money now\\nham ~ see you at noon\\n"
for name in ("by.tilde", "by_content"):
    (folder / name).write_text(text)
    source = open_source(folder / name)
    assert source.reading.format == "tilde"
    assert [chunk.label.tolist() for chunk in source] == [["spam", "ham"]]
    assert Reading.from_json(source.reading.to_json()) == source.reading
(folder / "one").write_text("spam ~ win\\n")
assert open_source(folder / "one", format="tilde").reading.format == "tilde"

convert(folder / "by.tilde", folder / "a.csv")
convert(folder / "a.csv", folder / "back.tilde")
assert (folder / "back.tilde").read_text() == text
convert(folder / "by.tilde", folder / "b.vw")
assert (folder / "b.vw").read_text() == "spam | win money now\\nham | see you at noon\\n"

for arguments in (["--output", str(folder / "c.jsonl"), "--format", "tilde"], ["--output", "-", "--to", "tilde"]):
    done = CliRunner().invoke(commands, ["convert", str(folder / "by.tilde"), *arguments])
    assert done.exit_code == 0, done.output
for command in ("train", "convert"):
    assert "tilde" in CliRunner().invoke(commands, [command, "--help"]).output

for wrong in (
    lambda: open_source(folder / "by.tilde", format="none"),
    lambda: convert(folder / "by.tilde", folder / "a.none"),
    lambda: list(open_source((folder / "unknown", (folder / "unknown").write_text("just words"))[0])),
):
    try:
        wrong()
    except InvalidInput as error:
        assert "tilde" in str(error), error
    else:
        raise AssertionError("not refused")

space = {"__name__": "tool", "__file__": str(tool)}
exec(tool.read_text(), space)
assert "| `tilde` | `.tilde` | `label ~ words` | before the tilde |  | yes |" in space["formats"]()
"""


def test_a_format_is_added_by_one_module(tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "tilde.py").write_text(TILDE)
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path), str(TOOL)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "tilde" not in ALL


@pytest.mark.parametrize("then", ["", "list(open_source(sys.argv[1]))"])
def test_formats_are_known_without_the_packages_that_they_need(tmp_path, then):
    (tmp_path / "a.svm").write_text("1 1:2\n-1 2:1\n")
    code = (
        "import sys\nfrom rosenblatt.files.formats import ALL\nassert ALL\n"
        "assert not {'numba', 'scipy', 'sklearn', 'pyarrow'} & set(sys.modules)\n"
        f"from rosenblatt.files.opening import open_source\n{then}\n"
        "assert 'pyarrow' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.svm")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_names_and_endings_and_first_bytes_belong_to_one_format_each():
    for marks in ("endings", "magic"):
        found = [mark for one in ALL.values() for mark in getattr(one, marks)]
        assert len(set(found)) == len(found)
    for one in ALL.values():
        assert one.preview if one.kind == "table" else one.decide
        assert one.records or one.kind == "features"
        assert one.magic or one.matches
