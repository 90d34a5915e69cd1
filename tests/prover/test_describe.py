"""Certificates in words, and the table of coefficients."""

import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from rosenblatt import certify
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates.describe import counted, some


def test_nouns_agree_with_their_numbers():
    assert (counted(1, "row"), counted(2, "row"), counted(0, "row"), counted(1234, "row")) == (
        "1 row",
        "2 rows",
        "0 rows",
        "1,234 rows",
    )
    assert counted(3**100, "mistake") == "5.16e+47 mistakes"
    text = str(certify([[1.0], [2.0]], [0, 1]))
    assert text.startswith("2 samples, 1 feature: complete separation (linearly separable).")


def test_only_the_first_few_are_shown():
    assert some("abcdefgh") == "a, b, c, d, e, f, ... (2 more)"
    assert some("ab", " + ") == "a + b"


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e9, 1e100])
def test_weights_are_printed_in_a_readable_size(scale):
    text = str(certify(np.array([[0.0], [0.0], [1.0], [-1.0]]) * scale, [0, 1, 1, 0]))
    [line] = [line for line in text.splitlines() if "weak separator" in line]
    shown = float(line.split("w = (")[1].split(")")[0])
    assert 1e-3 <= shown <= 1e6


def test_each_margin_has_its_name():
    text = str(certify([[0.0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"]))
    assert "The geometric margin is 0.353553391." in text
    assert "The augmented margin is 0.333333333." in text
    assert "w.x + b > 0 for label 'yes' and < 0 for label 'no'." in text
    assert "at most 27 mistakes" in text


def test_sentences_for_three_classes_are_whole():
    assert (
        "The weak separator has a weight vector for each of the 3 classes. No row is on its wrong side. Every weak "
        "separator is zero on 2 rows: 1, 3."
    ) in str(certify([[2, 0], [2, 1], [1, 2], [2, 1]], [0, 0, 1, 2]))
    assert (
        "The separator has a weight vector for each of the 3 classes, and the highest score on every row is that of "
    ) in str(certify([[0], [1], [2]], [0, 1, 2]))


def test_the_representation_is_short():
    assert repr(certify([[0], [1]], [0, 1])) == "<Certificate: separable, 2 samples, 1 feature>"


def test_named_columns_add_what_a_logistic_regression_would_do():
    frame = pd.DataFrame({"dose": [1, 2, 3, 4, 2, 3], "treated": [0, 0, 0, 0, 1, 1]})
    text = str(certify(frame, [0, 1, 0, 1, 1, 1]))
    assert "this is quasi-complete separation: the likelihood has no maximum" in text
    assert "These are 4, 5." in text
    assert "finite: intercept, dose; +inf: treated." in text
    assert "logistic" not in str(certify(frame.to_numpy(), [0, 1, 0, 1, 1, 1]))


def figure(pattern, text):
    found = re.search(pattern, text)
    return None if found is None else Decimal(found[1])


def test_printed_bounds_are_true():
    rng = np.random.default_rng(0)
    seen = Counter()
    for k in range(60):
        X = rng.standard_normal((8, 2))
        y = (X @ rng.standard_normal(2) > 0.1).astype(int)
        certificate = certify(X * 10.0 ** rng.integers(-7, 7), y)
        text = str(
            replace(certificate, augmented=replace(certificate.augmented, upper=2 * certificate.augmented.upper))
        )
        assert figure(r"within ([\d.e+-]+\d) of the origin", text) >= Decimal(certificate.radius), k
        low, high = (
            figure(rf"augmented margin is between {part}", text) for part in (r"(\S+) and", r"\S+ and (\S+\d)\.")
        )
        assert low <= Decimal(certificate.augmented.lower)
        assert high >= 2 * Decimal(certificate.augmented.upper)
        most = re.search(r"at most ([\d.,e+]*\d) mistake", text)[1].replace(",", "")
        assert Decimal(most) >= certificate.mistake_bound
        seen["e" in most] += 1
    assert len(seen) == 2  # bounds that are written out, and such that are rounded


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


# ------------------------------------------------------------------------------------- other responses than two labels


def test_sums_without_an_intercept_are_not_called_means():
    """x[1] is twice x[0]: the rows are not equal, though each is alone on its side."""
    text = str(certify([[1, 2], [2, 4], [-1, -2]], [0, 1, 1], fit_intercept=False))
    assert "3 samples, 2 features, no intercept: overlap (not linearly separable)." in text
    assert "x[1] = 2 x[0]." in text
    assert "equals" not in text
    assert "b = " not in str(certify([[1, 2], [2, 1]], [0, 1], fit_intercept=False))
    opposite = str(certify([[1], [-1]], [1, 1], fit_intercept=False))
    assert "x[0] + x[1] = 0." in opposite or "0 = x[0] + x[1]." in opposite


def test_rows_are_those_of_the_data():
    text = str(certify([[9], [1], [1], [9]], [0, 0, 1, 1], sample_weight=[0, 1, 1, 0]))
    assert "row 2 equals row 1" in text or "row 1 equals row 2" in text
    several = str(certify([[9], [1], [1], [1]], [0, 0, 1, 2], sample_weight=[0, 1, 1, 1]))
    assert "(row 0" not in several


@pytest.mark.parametrize(
    ("family", "y", "noun"),
    [
        ("poisson", [0, 0, 2, 3], "4 counts"),
        ("poisson", [0, 0, 0, 0], "4 counts"),
        ("binomial", [0.0, 0.5, 1.0, 1.0], "4 shares"),
        ("binomial", [[0, 3], [2, 1], [1, 0], [1, 0]], "4 pairs"),
        ("binomial", [[0, 3], [0, 1], [1, 0], [1, 0]], "4 pairs"),
        ("ordinal", ["a", "b", "c", "c"], "4 ordered responses"),
    ],
)
def test_responses_that_are_not_labels_are_not_called_so(family, y, noun):
    text = str(certify(pd.DataFrame({"dose": [1, 2, 3, 4]}), y, family=family))
    assert text.startswith(f"{noun}, ")
    assert "label" not in text
    assert "linearly" not in text
    assert ("Poisson" in text) == (family == "poisson")
    rows = {
        int(i)
        for line in re.findall(r"(?:zero on|cancels|These are)[^:]*:? ([\d, ]+)\.", text)
        for i in line.split(",")
    }
    assert rows <= set(range(4))


def test_text_in_a_column_is_refused_with_its_formula():
    frame = pd.DataFrame({"age": [1, 2], "region": ["north", "south"]})
    with pytest.raises(InvalidInput, match=r"'region', as 'north'.*formula=\"y ~ region\""):
        certify(frame, [0, 1])
    with pytest.raises(InvalidInput, match="formula="):
        certify([["a", 1], ["b", 2]], [0, 1])


def test_several_classes_may_separate_without_any_fitted_probability_of_one():
    """Rows at 0 are of class a or b, rows at 1 of a or c: only c at 0 and b at 1 are ruled out."""
    rows, labels = [[0], [0], [1], [1]], ["a", "b", "a", "c"]
    certificate = certify(rows, labels, coefficients=True)
    assert certificate.verdict == "quasi-separable"
    assert certificate.extreme == ()
    assert "some fitted probabilities are 0" in certificate.coefficients.summary()
