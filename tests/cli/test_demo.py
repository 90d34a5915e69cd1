"""The demonstration: a report whose figures are true, and a picture."""

import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from commands import run
from rosenblatt import Perceptron
from rosenblatt.cli.demo import _check_output, end_in_words, ends_in_words, run_demo, sparkline
from rosenblatt.errors import InvalidInput
from rosenblatt.learners.sample_data import tumours
from rosenblatt.training.stopping import Stop

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes long without compilation")


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def report(output=None, *, terminal=False, encoding="utf-8"):
    stream = (Terminal if terminal else io.TextIOWrapper)(io.BytesIO(), encoding=encoding, write_through=True)
    assert run_demo(output, stream) == 0
    return stream.buffer.getvalue().decode(encoding)


@pytest.fixture(scope="module")
def told():
    return report()


def test_the_report_is_short_and_has_both_tasks(told):
    lines = told.splitlines()
    assert len(lines) <= 42
    assert "1. Benign or malignant?" in told
    assert "2. Which digit?" in told
    for mode in ("ovr", "ovo", "ovo-vote", "joint"):
        assert len([line for line in lines if line.strip().startswith(f"{mode}:")]) == 1


def test_the_report_says_why_the_last_way_is_last(told):
    rights = {mode: float(share) for mode, share in re.findall(r"^\s*([a-z-]+): .*?(\d+\.\d)%", told, re.MULTILINE)}
    assert len(rights) == 4
    assert (min(rights, key=rights.get) == "ovo") == ("Why is ovo last? It adds up the scores of 45 boundaries" in told)
    assert rights["ovo-vote"] > rights["ovo"]


def test_the_report_is_the_same_each_time_but_for_the_seconds(told):
    def timeless(text):
        return [re.sub(r" *\d+\.\d\d", "", line) for line in text.splitlines() if not line.startswith("Compiling")]

    assert timeless(report()) == timeless(told)


@pytest.mark.long
def test_no_time_in_the_table_is_spent_compiling(tmp_path):
    script = (
        "import io\n"
        "from rosenblatt.cli import demo\n"
        "from rosenblatt.engine.jit import compile_seconds\n"
        "table, seconds = demo._digits, []\n"
        "def timed(console):\n"
        "    seconds.append(compile_seconds()), table(console), seconds.append(compile_seconds())\n"
        "demo._digits = timed\n"
        "demo.run_demo(None, io.StringIO())\n"
        "print(*seconds)"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    before, after = map(float, done.stdout.split())
    assert after == before > 0


def test_the_figures_of_the_report_are_those_of_the_model(told):
    data = tumours()
    model = Perceptron(tol=None, keep="best", random_state=0).fit(data.X, data.y)
    assert model.stop_reason_ in told
    assert f"{model.score(data.X, data.y):.1%} of {data.y.size} right" in told
    assert f"{model.score(data.X_test, data.y_test):.1%} of {data.y_test.size} right" in told
    radius, ceiling = (float(re.search(rf"{name} +([\d.]+) ", told)[1]) for name in ("radius", "margin, at most"))
    assert 0 <= radius / model.run_.radius - 1 < 1e-4  # both are bounds: rounded up
    assert 0 <= ceiling / model.run_.ceiling - 1 < 1e-4
    assert f"the run made {sum(model.run_.mistakes):,}." in told


def test_the_margin_of_the_report_is_that_of_the_padded_rows_and_its_bound_holds(told):
    data = tumours()
    model = Perceptron(tol=None, keep="best", random_state=0).fit(data.X, data.y)
    padded = np.column_stack([data.X, np.ones(data.y.size)]) * np.where(data.y == 1, 1, -1)[:, None]
    vector = np.append(model.coef_[0], model.intercept_)
    margin = (padded @ vector).min() / np.linalg.norm(vector)
    radius = np.linalg.norm(padded, axis=1).max()
    reached = float(re.search(r"margin reached +([\d.]+) ", told)[1])
    assert 0 <= margin / reached - 1 < 1e-4  # rounded down
    bound = int(re.search(r"= ([\d,]+) mistakes", told)[1].replace(",", ""))
    assert bound == pytest.approx((radius / margin) ** 2, abs=1)
    assert sum(model.run_.mistakes) <= (radius / model.run_.ceiling) ** 2 <= bound


def test_a_terminal_sees_epochs_pass_and_a_file_gets_lines(told):
    live = report(terminal=True)
    assert "\x1b[2K" in live
    assert "epoch    1:" not in live
    assert "\x1b" not in told
    assert "epoch    1:" in told


def test_a_console_without_unicode_gets_ascii():
    assert report(encoding="ascii").isascii()


def test_the_picture_is_saved_where_the_report_says(tmp_path):
    path = tmp_path / "demo.png"
    out = report(path)
    assert str(path) in out.replace("\n", "")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_ending_chooses_the_format_and_none_means_png(tmp_path):
    report(tmp_path / "demo.svg")
    assert b"<svg" in (tmp_path / "demo.svg").read_bytes()
    assert _check_output(tmp_path / "demo") == "png"


@pytest.mark.parametrize(("name", "fault"), [("no/such/demo.png", "does not exist"), ("demo.docx", "not a format")])
def test_a_picture_that_cannot_be_saved_is_refused_before_the_work(tmp_path, name, fault):
    stream = io.StringIO()
    with pytest.raises(InvalidInput, match=fault):
        run_demo(tmp_path / name, stream)
    assert stream.getvalue() == ""


def test_the_picture_is_an_option():
    assert "--no-picture" in run("demo", "--help").stdout


# ----------------------------------------------------------------------------------------------------------------- text


def test_a_sparkline_falls_with_its_counts():
    assert sparkline((8, 4, 0)) == "█▅▁ 8 to 0"
    assert sparkline((0,)) == "▁ 0 to 0"
    assert sparkline((5,) * 400) == "█" * 40 + " 5 to 5 (a bar: about 10 epochs)"
    assert sparkline((8, 4, 0), ascii_only=True) == "#=_ 8 to 0"


def test_ends_are_told_in_a_few_words():
    assert ends_in_words((Stop.CYCLE,)) == "went in circles"
    assert ends_in_words((Stop.SEPARATED, Stop.EPOCHS, Stop.SEPARATED)) == "2 separated, 1 out of epochs"
    assert ends_in_words((Stop.SEPARATED,) * 45) == "all 45 separated"


@pytest.mark.parametrize("stop", Stop)
def test_every_end_has_its_few_words(stop):
    words = end_in_words(stop)
    assert 0 < len(words) < 40
    assert ends_in_words((stop,)) == words
    other = Stop.SEPARATED if stop is not Stop.SEPARATED else Stop.CYCLE
    assert f"2 {words}" in ends_in_words((stop, other, stop))


def test_a_proof_that_nothing_separates_is_an_end():
    assert ends_in_words((Stop.INSEPARABLE,)) == "proven not separable"
    assert ends_in_words((Stop.INSEPARABLE, Stop.SEPARATED)) == "1 separated, 1 proven not separable"
