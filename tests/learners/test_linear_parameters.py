"""Parameters of the linear members, without scikit-learn."""

import subprocess
import sys

import pytest
from rosenblatt.learners.linear_parameters import MEMBERS, check_parameters

import rosenblatt
from rosenblatt.errors import InvalidInput


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_has_the_parameters_and_the_method_of_its_estimator(name):
    member, estimator = MEMBERS[name]
    cls = getattr(rosenblatt, estimator)
    assert member.declared == cls.declared
    assert member()._algorithm() == cls()._algorithm()


def test_scikit_learn_is_not_imported():
    code = "import sys, rosenblatt.learners.linear_parameters; print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_impossible_parameters_are_refused():
    with pytest.raises(InvalidInput, match="does not exist for Winnow"):
        check_parameters(MEMBERS["winnow"][0](multiclass="joint"))
    with pytest.raises(InvalidInput, match="margin"):
        check_parameters(MEMBERS["averaged"][0](margin=-1.0))
