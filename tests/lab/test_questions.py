"""Questions, whoever carries them."""

import pytest
from safetensors.numpy import load

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.questions import KINDS, answer, trial_of


def test_every_kind_of_question_has_an_answer_of_its_type():
    kinds = {"run": bytes, "surface": bytes, "certificate": dict, "table": dict, "code": str, "trace": str}
    assert set(KINDS) == set(kinds)
    for kind, wanted in kinds.items():
        assert isinstance(answer(kind, {"data": "or", "t": 3, "text": "a,b,y\n1,2,u\n3,4,v\n"}), wanted)


def test_a_run_without_proofs_does_not_wait_for_them():
    assert "dot" in load(answer("run", {}))
    assert "dot" not in load(answer("run", {}, proofs=False))


@pytest.mark.parametrize("t", [-1, 1.5, "3", True, None, 10**12])
def test_a_trial_is_a_whole_number(t):
    with pytest.raises(InvalidInput, match="no trial"):
        trial_of({"t": t})


def test_an_unknown_question_gets_a_sentence():
    with pytest.raises(InvalidInput, match="Did you mean 'certificate'"):
        answer("certificates", {})
