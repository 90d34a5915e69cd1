"""The attack that kills a service under clients, in short."""

import pytest

from attacks.kill_service import attack


@pytest.mark.long
def test_a_service_that_is_killed_loses_nothing_and_learns_nothing_twice(tmp_path):
    figures = attack(tmp_path / "models", kills=3, clients=8, seed=1)
    wrong = ("rows lost", "rows twice", "models that differ", "exit code")
    assert {name: figures[name] for name in wrong} == dict.fromkeys(wrong, 0)
    assert figures["sent again"] > 0
