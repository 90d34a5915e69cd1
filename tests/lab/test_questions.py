"""Questions, whoever carries them."""

import numpy as np
import pytest
from safetensors.numpy import load

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.questions import KINDS, answer, trial_of


def test_every_kind_of_question_has_an_answer_of_its_type():
    kinds = {"run": bytes, "surface": bytes, "code": str, "trace": str}
    kinds |= dict.fromkeys(("points", "certificate", "table"), dict)
    assert set(KINDS) == set(kinds)
    for kind, wanted in kinds.items():
        assert isinstance(answer(kind, {"data": "or", "t": 3, "text": "a,b,y\n1,2,u\n3,4,v\n"}), wanted)


@pytest.mark.parametrize("data", ["or", "xor", "four", "clouds"])
def test_points_are_those_of_the_run(data):
    found, run = answer("points", {"data": data}), load(answer("run", {"data": data}))
    assert np.array_equal([point[:-1] for point in found["points"]], run["X"])
    assert [point[-1] for point in found["points"]] == run["y"].tolist()
    assert len(found["names"]) == run["X"].shape[1]


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
