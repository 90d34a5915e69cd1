"""Conversion by command gives the rows back."""

from commands import run, spawn, svmlight


def test_rows_come_back_from_another_format(tmp_path):
    svmlight(tmp_path / "rows.svm", n=50)
    assert "50 rows" in run("convert", tmp_path / "rows.svm", "-o", tmp_path / "rows.vw").stderr
    run("convert", tmp_path / "rows.vw", "-o", tmp_path / "again.svm", "--quiet")
    run("train", tmp_path / "rows.svm", "--model", tmp_path / "a", "--quiet", "--zero-based", "no")
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
    assert "Wrote 1 row to" in told
    assert "skipped 1 line" in told


def test_values_are_under_their_names_whatever_the_order(tmp_path):
    (tmp_path / "a.csv").write_text("a,colour,y\n1,red,0\n2,blue,1\n")
    (tmp_path / "b.csv").write_text(";y;colour;a\n0;1;green;3\n1;0;red;4\n")
    (tmp_path / "c.jsonl").write_text('{"colour": "blue", "y": 1, "a": 5}\n')
    files = [tmp_path / name for name in ("a.csv", "b.csv", "c.jsonl")]
    told = run("convert", *files, "-o", tmp_path / "all.csv", "--columns", "colour=category").stderr
    assert "b.csv: column 0 has no name" in told
    assert (tmp_path / "all.csv").read_text() == "a,colour,y\n1,red,0\n2,blue,1\n3,green,1\n4,red,0\n5,blue,1\n"
    run("convert", *files, "-o", tmp_path / "all.svm", "--quiet")
    lines = (tmp_path / "all.svm").read_text().splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["0", "1:1"],
        ["1", "1:2"],
        ["1", "1:3"],
        ["0", "1:4"],
        ["1", "1:5"],
    ]


def test_a_category_that_looks_like_a_number_stays_as_it_is(tmp_path):
    (tmp_path / "a.csv").write_text("zip,n,y\n01234,1,0\n00501,2,1\n")
    run("convert", tmp_path / "a.csv", "-o", tmp_path / "a.jsonl", "--columns", "zip=category,n=skip", "--quiet")
    assert (tmp_path / "a.jsonl").read_text() == '{"zip": "01234", "y": 0}\n{"zip": "00501", "y": 1}\n'


def test_text_that_is_not_utf_8_goes_to_no_format_with_types(tmp_path):
    (tmp_path / "a.csv").write_bytes("colour,n,y\ngrün,1,0\nrot,2,1\n".encode("latin-1"))
    assert "is not UTF-8" in run("convert", tmp_path / "a.csv", "-o", tmp_path / "a.jsonl", code=1).stderr
    run("convert", tmp_path / "a.csv", "-o", tmp_path / "b.csv", "--quiet")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
