"""An argument for which a bound has no meaning is named with its fault and a remedy."""

import math

import pytest

from rosenblatt import bounds
from rosenblatt.errors import InvalidInput


@pytest.mark.parametrize(
    ("bound", "arguments"),
    [
        (bounds.novikoff, (0, 1)),
        (bounds.novikoff, (1, 0)),
        (bounds.novikoff, (1, -1)),
        (bounds.novikoff, (1, math.nan)),
        (bounds.novikoff, (1, 2)),
        (bounds.from_start, ([0, 0], [1], 1, 1)),
        (bounds.from_start, ([[0, 0]], [1, 0], 1, 1)),
        (bounds.from_start, ([math.inf, 0], [1, 0], 1, 1)),
        (bounds.agnostic, (1, 1, -1)),
        (bounds.agnostic, (1, -1, 1)),
        (bounds.freund_schapire, (1, 1, -1)),
        (bounds.margin_perceptron, (2, 1, -1)),
        (bounds.margin_perceptron_margin, (2, 1, 1, -1)),
        (bounds.passive_aggressive_1, (1, 1, 1, 0)),
        (bounds.passive_aggressive_2, (1, 1, 1, math.inf)),
        (bounds.alma2, (1, 0)),
        (bounds.alma2, (1.5, 0.5)),
        (bounds.alma2_margin, (1, 2)),
        (bounds.arow, ([[1, 0]], [1], [1, 0], -1)),
        (bounds.arow, ([[1, 0]], [2], [1, 0], 0)),
        (bounds.arow, ([[1, 0]], [1, 1], [1, 0], 0)),
        (bounds.multiclass, (1, 2)),
        (bounds.p_norm, (1, 1, 1.5)),
        (bounds.winnow1, (3, 2)),
        (bounds.winnow1, (-1, 2)),
        (bounds.winnow1, (1, 2, 1)),
        (bounds.winnow2, (1, 8, 2, 0.25)),
        (bounds.average_risk, (-1, 10, 0.1)),
        (bounds.average_risk, (11, 10, 0.1)),
        (bounds.average_risk, (1, 0, 0.1)),
        (bounds.average_risk, (1, 10, 0)),
        (bounds.voted_risk, (1, 10, 1)),
        (bounds.leave_one_out, (1, -1)),
        (bounds.leave_one_out_vote, (-1, 1)),
    ],
)
def test_a_bad_argument_is_named_with_its_fault_and_a_remedy(bound, arguments):
    with pytest.raises(InvalidInput, match=r"^\w+[= ].*\. (Pass|Divide|Count) .*\.$"):
        bound(*arguments)
