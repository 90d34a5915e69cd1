"""`rosenblatt report`: from a file to a page."""

import re

import numpy as np

from commands import mails, run


def rows(path, n, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2)).round(3)
    lines = [f"{a},{b},{'high' if a + b > 0 else 'low'}" for a, b in X]
    path.write_text("\n".join(["width,height,kind", *lines]) + "\n")
    return path


def test_a_table_becomes_a_page_with_the_names_of_its_columns(tmp_path):
    done = run("report", rows(tmp_path / "a.csv", 60, 0), "-o", tmp_path / "r.html")
    html = (tmp_path / "r.html").read_text()
    assert "width" in html
    assert "60 rows, 2 features, 2 classes" in done.stderr
    assert not done.stdout


def test_rows_of_another_file_or_every_kth_row_are_held_out(tmp_path):
    train, test = rows(tmp_path / "a.csv", 60, 0), rows(tmp_path / "b.csv", 25, 1)
    done = run("report", train, "--test", test, "-o", tmp_path / "r.html", "--learner", "averaged")
    assert "of 60 training rows" in done.stderr
    assert "of 25 held-out rows" in done.stderr
    done = run("report", train, "--holdout", 4, "-o", tmp_path / "r.html", "--quiet")
    assert not done.stderr
    assert re.search(r"held-out rows</td><td>15<", (tmp_path / "r.html").read_text())


def test_words_of_mails_are_telling_features(tmp_path):
    run("report", mails(tmp_path / "m.csv", n=80), "--label", "kind", "-o", tmp_path / "r.html", "--time-limit", 5)
    assert any(word in (tmp_path / "r.html").read_text() for word in ("prize", "winner", "free", "meeting"))


def test_options_of_the_learner_reach_it(tmp_path):
    data = rows(tmp_path / "a.csv", 40, 0)
    options = ("--learner", "perceptron", "--eta0", 0.5, "--epochs", 3, "--no-shuffle", "--title", "<T>")
    run("report", data, "-o", tmp_path / "r.html", *options)
    html = (tmp_path / "r.html").read_text()
    assert "Perceptron with max_iter=3, shuffle=False, eta0=0.5" in html or all(
        part in html for part in ("eta0=0.5", "max_iter=3", "shuffle=False")
    )
    assert "<h1>&lt;T&gt;</h1>" in html


def test_two_ways_to_evaluate_are_one_too_many(tmp_path):
    data = rows(tmp_path / "a.csv", 10, 0)
    done = run("report", data, "-o", tmp_path / "r.html", "--test", data, "--holdout", 2, code=2)
    assert "Choose one" in done.stderr
    assert "cannot be standard input" in run("report", data, "-o", tmp_path / "r.html", "--test", "-", code=2).stderr


def test_the_rows_of_a_test_file_are_counted_as_they_are_read(tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("a,b,kind\n" + "1,2,x\n3,5,y\n" * 10)
    test.write_text("kind;b;a\n" + "x;2;1\ny;5;3\n" * 3)
    told = run("report", train, "--test", test, "-o", tmp_path / "report.html").stderr
    assert "of 20 training rows" in told
    assert "of 6 held-out rows" in told
