"""Options of training: the declared parameters of the members."""

import pytest

from commands import run
from rosenblatt.cli.training import WITHOUT_OPTION, Interruption, value_of
from rosenblatt.learners import trainable


def test_every_parameter_of_every_member_has_an_option_or_a_reason():
    text = run("train", "--help-all").stdout
    for learner in trainable().values():
        for name in learner.declared:
            assert name in WITHOUT_OPTION or f"--{name.replace('_', '-')} " in text


@pytest.mark.parametrize(
    ("text", "value"),
    [("none", None), ("yes", True), ("False", False), ("3", 3), ("1e-3", 1e-3), ("inf", float("inf")), ("l1", "l1")],
)
def test_values_are_read_as_python_would_have_them(text, value):
    assert value_of(text) == value
    assert value_of("0.5,2") == (0.5, 2.0)


def test_a_second_interruption_is_not_ignored():
    interruption = Interruption()
    assert not interruption()
    interruption._note()
    assert interruption()
    with pytest.raises(KeyboardInterrupt):
        interruption._note()
