"""Questions, whoever carries them."""

import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.questions import KINDS, answer, trial_of


def test_every_kind_of_question_has_an_answer_of_its_type():
    kinds = {"run": bytes, "surface": bytes, "code": str, "trace": str}
    kinds |= dict.fromkeys(("certificate", "table"), dict)
    assert set(KINDS) == set(kinds)
    for kind, wanted in kinds.items():
        assert isinstance(answer(kind, {"data": "or", "t": 3, "text": "a,b,y\n1,2,u\n3,4,v\n"}), wanted)


@pytest.mark.parametrize("t", [-1, 1.5, "3", True, None, 10**12])
def test_a_trial_is_a_whole_number(t):
    with pytest.raises(InvalidInput, match="no trial"):
        trial_of({"t": t})


def test_an_unknown_question_gets_a_sentence():
    with pytest.raises(InvalidInput, match="Did you mean 'certificate'"):
        answer("certificates", {})
