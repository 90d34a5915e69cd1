"""Compiling beforehand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.config import DISABLE_JIT

import rosenblatt
from rosenblatt import warmup
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.warm import PARTS, USUAL

SOURCE = Path(rosenblatt.__file__).parents[1]
needs_the_compiler = pytest.mark.skipif(DISABLE_JIT, reason="the JIT is off")


def test_an_unknown_name_is_refused_with_those_that_are_known():
    with pytest.raises(InvalidInput, match=r"'percepton' cannot be compiled by name\. Choose from perceptron, .*all\."):
        warmup("percepton")


def test_what_is_usual_can_be_named():
    assert set(USUAL) <= set(PARTS)


@needs_the_compiler
def test_what_was_compiled_in_one_process_is_there_in_the_next(tmp_path):
    env = os.environ | {"PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "rosenblatt.cli.main", "warmup", "winnow"]
    first, second = (subprocess.run(command, env=env, capture_output=True, text=True, check=True) for _ in range(2))
    assert first.stdout.startswith("compiled winnow (")
    assert second.stdout.startswith("winnow had been compiled before (")
    assert first.stderr == second.stderr == "", "it was asked for: nothing is announced"
