"""Conversion by command gives the rows back."""

from commands import run, spawn, svmlight


def test_rows_come_back_from_another_format(tmp_path):
    svmlight(tmp_path / "rows.svm", n=50)
    assert "50 rows" in run("convert", tmp_path / "rows.svm", "-o", tmp_path / "rows.vw").stderr
    run("convert", tmp_path / "rows.vw", "-o", tmp_path / "again.svm", "-q")
    run("train", tmp_path / "rows.svm", "--model", tmp_path / "a", "-q", "--zero-based", "no")
    assert len((tmp_path / "again.svm").read_text().splitlines()) == 50


def test_an_unknown_format_is_refused(tmp_path):
    svmlight(tmp_path / "rows.svm", n=5)
    run("convert", tmp_path / "rows.svm", "-o", tmp_path / "rows.xyz", code=1)
    assert not (tmp_path / "rows.xyz").exists()


def test_standard_input_is_converted_as_the_same_file_is(tmp_path):
    rows = tmp_path / "rows.vw"
    rows.write_text("1 |a x:2 y\n-1 2 | z :3\n")
    run("convert", rows, "-o", tmp_path / "from-file.csv")
    with open(rows, "rb") as stdin:
        done = spawn("convert", "-", "--format", "vw", "--to", "csv", "-o", "-", stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "from-file.csv").read_text()


def test_one_row_and_one_line_are_counted_in_the_singular(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:2\n1 x\n")
    told = run("convert", tmp_path / "rows.svm", "-o", tmp_path / "rows.vw", "--on-error", "skip").stderr
    assert "1 row is in" in told
    assert "1 line left out" in told
