"""Certificates from files, and their check."""

import json

import pytest

import rosenblatt
from commands import mails, run

OR = "x1,x2,or\n0,0,no\n1,0,yes\n0,1,yes\n1,1,yes\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "or.csv").write_text(OR)
    (tmp_path / "xor.csv").write_text(OR.replace("1,1,yes", "1,1,no"))
    return tmp_path


def test_a_certificate_of_a_file_is_that_of_its_rows(table):
    told = json.loads(run("certify", table / "or.csv", "--json", "-o", table / "or.json").stdout)
    wanted = rosenblatt.certify([[0.0, 0.0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"])
    assert told == wanted.to_dict() == json.loads((table / "or.json").read_text())


def test_verify_accepts_what_holds_and_nothing_else(table):
    for name, verdict in (("or", "separable"), ("xor", "overlapping")):
        assert verdict in run("certify", table / f"{name}.csv", "-o", table / f"{name}.json").stdout
        assert "holds" in run("verify", table / f"{name}.csv", "--certificate", table / f"{name}.json").stdout
    assert "does not prove" in run("verify", table / "xor.csv", "--certificate", table / "or.json", code=1).stdout
    assert json.loads(run("verify", table / "or.csv", "--certificate", table / "or.json", "--json").stdout)["holds"]
    run("verify", table / "or.csv", "--certificate", table / "or.csv", code=1)


def test_a_model_says_how_to_read(table):
    mails(table / "mails.csv", n=60)
    run("train", table / "mails.csv", "--label", "kind", "--dictionary", "--model", table / "m", "--quiet")
    run("certify", table / "mails.csv", "-m", table / "m", "-o", table / "c", "--no-margin")
    wide = run("verify", table / "mails.csv", "--certificate", table / "c", "-m", table / "m")
    assert "holds" in wide.stdout


def test_no_rows_are_no_proof(table):
    (table / "none.csv").write_text("x1,x2,or\n")
    run("certify", table / "none.csv", "--header", "yes", code=1)


def test_a_verdict_that_is_not_found_in_time_is_undecided(table):
    told = run("certify", table / "xor.csv", "--time-limit", "1e-9")
    assert "undecided" in told.stdout
    assert "time limit of 1e-09 seconds" in told.stdout
    assert "Allow more time" in told.stdout
    assert "overlapping" in run("certify", table / "xor.csv", "--time-limit", "inf").stdout


def test_files_whose_columns_are_in_other_orders_are_certified_as_one(tmp_path):
    (tmp_path / "ab.csv").write_text("a,b,y\n0,5,0\n1,-5,1\n")
    (tmp_path / "ba.csv").write_text("b,y,a\n9,0,0.25\n-9,1,0.75\n")
    (tmp_path / "all.csv").write_text("a,b,y\n0,5,0\n1,-5,1\n0.25,9,0\n0.75,-9,1\n")
    both = [tmp_path / "ab.csv", tmp_path / "ba.csv"]
    told = run("certify", *both, "--output", tmp_path / "proof")
    assert "separable" in told.stdout
    assert told.stdout == run("certify", tmp_path / "all.csv", "--output", tmp_path / "proof").stdout
    assert "holds" in run("verify", *both, "--certificate", tmp_path / "proof").stdout
