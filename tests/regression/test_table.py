"""Maximum likelihood and Firth's estimates side by side."""

import numpy as np
import pytest

from oracles.published import ENDOMETRIAL_DESIGN, GRADE
from rosenblatt.errors import InvalidInput
from rosenblatt.regression import EstimateTable, firth, maximum_likelihood

NAMES = ["constant", "NV", "PI", "EH", "twice"]
KINDS = ["finite", "+inf", "finite", "finite", "not identified"]


@pytest.fixture(scope="module")
def table():
    design = [[*row, 2 * row[2]] for row in ENDOMETRIAL_DESIGN]
    separated = [i for i, row in enumerate(design) if row[1]]
    plain = maximum_likelihood(design, GRADE, separated=separated, names=NAMES)
    return EstimateTable(KINDS, plain, firth(design, GRADE, names=NAMES))


def test_each_coefficient_has_its_estimates(table):
    frame = table.to_frame().set_index("coefficient")
    assert frame.loc["NV", "max. likelihood"] == np.inf
    assert frame.loc["twice", "max. likelihood"] == "not identified"
    assert frame.loc["PI", "max. likelihood"] == table.likelihood.estimates[2]
    assert frame["Firth"].to_numpy()[:4].tolist() == table.penalised.estimates[:4].tolist()
    assert np.isnan(frame.loc["NV", "std. error"])
    assert np.isnan(frame.loc["twice", "Firth"])


def test_the_text_has_a_line_for_each_coefficient_and_the_notes_once(table):
    lines = str(table).splitlines()
    assert [line.split()[0] for line in lines[1:6]] == NAMES
    assert lines[2].split()[1] == "+inf"
    assert str(table).count("combination of columns before it: 'twice'") == 1


def test_notebooks_show_the_same_cells(table):
    html = table._repr_html_()
    assert html.count("<tr>") == 6
    assert "<td>+inf</td>" in html


def test_directions_that_differ_by_optimiser_are_words(table):
    other = EstimateTable(["finite", "+/-inf", "-inf", "finite", "not identified"], table.likelihood, table.penalised)
    assert [row["max. likelihood"] for row in other.rows[1:3]] == ["+/-inf", -np.inf]


def test_tables_of_different_designs_are_refused(table):
    with pytest.raises(InvalidInput, match="3 kinds"):
        EstimateTable(KINDS[:3], table.likelihood, table.penalised)
