"""Certificates from files, and their check."""

import json
import sys

import pandas as pd
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
    told = told["certificate"]
    assert told["names"] == ["x1", "x2"]
    assert told == json.loads((table / "or.json").read_text())
    assert {name: told[name] for name in told if name not in ("names", "seal")} == {
        name: value for name, value in wanted.to_dict().items() if name not in ("names", "seal")
    }


def test_verify_accepts_what_holds_and_nothing_else(table):
    for name, verdict in (("or", "separable"), ("xor", "overlap")):
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
    assert "overlap" in run("certify", table / "xor.csv", "--time-limit", "inf").stdout


def test_files_whose_columns_are_in_other_orders_are_certified_as_one(tmp_path):
    (tmp_path / "ab.csv").write_text("a,b,y\n0,5,0\n1,-5,1\n")
    (tmp_path / "ba.csv").write_text("b,y,a\n9,0,0.25\n-9,1,0.75\n")
    (tmp_path / "all.csv").write_text("a,b,y\n0,5,0\n1,-5,1\n0.25,9,0\n0.75,-9,1\n")
    both = [tmp_path / "ab.csv", tmp_path / "ba.csv"]
    told = run("certify", *both, "--output", tmp_path / "proof")
    assert "separable" in told.stdout
    assert told.stdout == run("certify", tmp_path / "all.csv", "--output", tmp_path / "proof").stdout
    assert "holds" in run("verify", *both, "--certificate", tmp_path / "proof").stdout


# -------------------------------------------------------------------------------------------------------- regressions


PEOPLE = pd.DataFrame(
    {
        "age": [50, 61, 47, None, 33, 70, 52, 40, 66, 58],
        "region": ["north", "south", "north", "south", "east", "east", "north", "north", "south", None],
        "smoker": [1, 0, 1, 0, 0, 1, 0, 0, 1, 1],
        "visits": [0, 2, 1, 3, 0, 1, 0, 0, 4, 1],
        "times": [1, 1, 2, 1, 1, 0, 1, 1, 3, 1],
        "ill": ["no", "yes", "no", "yes", "no", "yes", "no", "no", "no", "yes"],
    }
)


@pytest.fixture
def people(tmp_path):
    """The same people in two files as pandas writes them: with its index, missing cells, columns in other orders."""
    first, second = PEOPLE[:6], PEOPLE[6:]
    first.to_csv(tmp_path / "first.csv")
    second[["ill", *second.columns[:-1]]].to_csv(tmp_path / "second.csv", na_rep="NA")
    return tmp_path


def proof_of(found):
    """What a certificate claims, without what is not proved."""
    return {name: value for name, value in found.items() if name not in ("names", "seal", "reason")}


@pytest.mark.parametrize(
    ("formula", "options", "settings"),
    [
        ("ill ~ age + region*smoker", [], {}),
        ("ill ~ 0 + age + smoker", [], {}),
        ("ill ~ age + smoker", ["--no-intercept"], {"fit_intercept": False}),
        ("visits ~ age + smoker", ["--family", "poisson"], {"family": "poisson"}),
        ("visits ~ smoker", ["--family", "ordinal"], {"family": "ordinal"}),
        ("ill ~ smoker", ["--weight", "times"], {"sample_weight": PEOPLE["times"]}),
        ("cbind(visits, times) ~ smoker", ["--family", "binomial"], {"family": "binomial"}),
    ],
)
def test_a_formula_for_files_is_that_for_their_frame(people, formula, options, settings):
    files, out = [people / "first.csv", people / "second.csv"], people / "proof"
    told = json.loads(run("certify", *files, "--formula", formula, *options, "--json", "-o", out).stdout)
    wanted = rosenblatt.certify(PEOPLE, formula=formula, **settings)
    assert proof_of(told["certificate"]) == proof_of(wanted.to_dict())
    assert told["certificate"]["names"] == list(wanted.names)
    assert told["estimates"]
    assert "holds" in run("verify", *files, "--formula", formula, *options, "--certificate", out).stdout
    assert rosenblatt.verify(
        rosenblatt.prover.Certificate.load(out),
        PEOPLE,
        formula=formula,
        sample_weight=settings.get("sample_weight"),
    )


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet"])
def test_a_formula_reads_tables_of_every_format(tmp_path, ending):
    path = tmp_path / f"people.{ending}"
    if ending == "tsv":
        PEOPLE.to_csv(path, sep="\t", index=False)
    elif ending == "jsonl":
        PEOPLE.to_json(path, orient="records", lines=True)
    else:
        PEOPLE.to_parquet(path)
    told = json.loads(run("certify", path, "--formula", "ill ~ age + region", "--json").stdout)["certificate"]
    assert proof_of(told) == proof_of(rosenblatt.certify(PEOPLE, formula="ill ~ age + region").to_dict())


def test_the_names_of_the_columns_are_in_the_answer(people):
    told = run("certify", people / "first.csv", people / "second.csv", "--label", "ill", "--missing", "drop")
    for name in ("intercept", "age", "region=north", "smoker", "visits"):
        assert f"\n{name} " in told.stdout
    assert "2 rows with a missing value were left out." in told.stdout
    assert "Next: " in told.stdout


def test_missing_values_are_refused_left_out_or_zero_as_asked(people):
    files = [people / "first.csv", people / "second.csv"]
    assert "rows: 3 and 9" in run("certify", *files, "--label", "ill", "--missing", "raise", code=1).stderr
    assert (
        "rows: 3 and 9"
        in run("certify", *files, "--formula", "ill ~ age + region", "--missing", "raise", code=1).stderr
    )
    assert "count as zero" in run("certify", *files, "--label", "ill").stderr
    out = people / "proof"
    run("certify", *files, "--label", "ill", "--missing", "drop", "-o", out)
    assert "holds" in run("verify", *files, "--label", "ill", "--missing", "drop", "--certificate", out).stdout
    run("verify", *files, "--label", "ill", "--certificate", out, code=1)


def test_what_a_formula_cannot_mean_is_refused(people, monkeypatch):
    files = [people / "first.csv", people / "second.csv"]
    assert "Did you mean 'age'?" in run("certify", *files, "--formula", "ill ~ agee", code=1).stderr
    assert "--label" in run("certify", *files, "--formula", "ill ~ age", "--label", "ill", code=2).stderr
    (people / "empty.csv").write_text("")
    assert "error" in run("certify", people / "empty.csv", "--formula", "ill ~ age", code=1).stderr
    (people / "rows.svm").write_text("1 1:2 2:3\n0 1:1\n")
    assert "Pass a table" in run("certify", people / "rows.svm", "--formula", "ill ~ age", code=1).stderr
    monkeypatch.setitem(sys.modules, "formulaic", None)
    assert 'pip install "rosenblatt[formula]"' in run("certify", *files, "--formula", "ill ~ age", code=1).stderr


def test_weights_of_a_column_leave_out_rows_of_weight_zero(tmp_path):
    (tmp_path / "rows.csv").write_text("x,n,y\n1,1,0\n2,0,1\n3,2,0\n4,1,1\n")
    assert "3" in run("certify", tmp_path / "rows.csv", "--weight", "n", "--label", "y").stdout
    told = json.loads(run("certify", tmp_path / "rows.csv", "--weight", "n", "--label", "y", "--json").stdout)
    assert told["certificate"]["rows"] == [0, 2, 3]
    assert told["separation"] == "complete separation"


def test_a_model_without_an_intercept_is_not_proved_by_one_with_it(table):
    out = table / "proof"
    run("certify", table / "or.csv", "-o", out)
    assert "does not prove" in run("verify", table / "or.csv", "--certificate", out, "--no-intercept", code=1).stdout


def test_estimates_are_determined_or_left_out_as_asked(table):
    assert "Firth" in run("certify", table / "or.csv").stdout
    assert "Firth" not in run("certify", table / "or.csv", "--no-estimates").stdout
    mails(table / "mails.csv", n=20)
    arguments = "certify", table / "mails.csv", "--label", "kind"
    assert "coefficient" not in run(*arguments).stdout
    assert "coefficient" in run(*arguments, "--estimates").stdout


def test_quiet_prints_the_answer_alone(people):
    arguments = "certify", people / "first.csv", people / "second.csv", "--label", "ill"
    assert run(*arguments).stderr
    assert not run(*arguments, "--quiet").stderr
