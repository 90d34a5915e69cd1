"""The table of coefficients."""

import pandas as pd
import pytest

from rosenblatt import certify
from rosenblatt.errors import InvalidInput

DATA = pd.DataFrame({"dose": [1, 2, 3, 4, 2, 3, 4, 5], "treated": [0, 0, 0, 0, 1, 1, 1, 1]})
CURED = [0, 1, 0, 1, 1, 1, 1, 1]


def test_the_table_has_the_names_of_the_columns_and_the_intercept_first():
    table = certify(DATA, CURED).coefficients
    assert table.rows == [
        {"coefficient": "intercept", "estimate": "finite"},
        {"coefficient": "dose", "estimate": "finite"},
        {"coefficient": "treated", "estimate": "+inf"},
    ]
    assert certify(DATA, CURED).to_frame().to_dict("records") == table.rows
    assert str(table).splitlines()[1:] == [
        "coefficient  estimate",
        "intercept    finite",
        "dose         finite",
        "treated      +inf",
    ]
    assert "Quasi-complete separation" in str(table)
    assert "4 observations have" in str(table)


def test_several_classes_have_coefficients_against_the_first():
    table = certify([[0.0], [1.0], [2.0]], ["a", "b", "c"]).coefficients
    assert [(row["class"], row["coefficient"]) for row in table.rows] == [
        ("b", "intercept"),
        ("b", "x0"),
        ("c", "intercept"),
        ("c", "x0"),
    ]
    assert table.separation == "complete separation"


def test_html_has_no_markup_from_names():
    frame = pd.DataFrame({"<b>dose": DATA["dose"], "treated": DATA["treated"]})
    html = certify(frame, CURED)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;dose" in html
    assert "<td>+inf</td>" in html


def test_the_words_of_the_literature():
    assert certify(DATA, CURED).separation == "quasi-complete separation"
    assert certify([[0], [1]], [0, 1]).separation == "complete separation"
    assert certify([[0], [0]], [0, 1]).separation == "overlap"
    assert str(certify([[0], [0]], [0, 1]).coefficients).startswith("Overlap: the likelihood has a maximum.")


def test_a_certificate_without_estimates_says_how_to_get_them():
    with pytest.raises(InvalidInput, match="coefficients=True"):
        _ = certify([[0], [1]], [0, 1], coefficients=False).coefficients
