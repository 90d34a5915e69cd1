"""What a cluster costs, by calculation."""

import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.scaling import plan


def test_rows_that_fit_one_machine_get_the_advice_to_stay_there():
    assert "stay there" in plan(5e9, 2**18, memory=16e9).advice
    assert plan(5e9, 2**18, memory=16e9).fits


def test_a_round_is_the_sum_of_its_parts_and_grows_with_the_weights():
    few, many = (plan(1e12, weights, workers=100, memory=64e9) for weights in (2**18, 2**24))
    assert few.round_seconds == pytest.approx(few.engine + few.moving + few.computing + few.reading)
    assert many.bytes_per_round == 64 * few.bytes_per_round
    assert many.moving == pytest.approx(64 * few.moving)
    assert few.seconds == 10 * few.round_seconds
    assert "100 workers" in few.advice


def test_many_weights_and_few_rows_do_not_pay():
    assert "no slower" in plan(2e10, 2**26, workers=50, memory=16e9).advice


def test_spark_costs_more_than_dask_for_each_shard():
    assert plan(1e12, 2**18, workers=10, engine="spark").engine > plan(1e12, 2**18, workers=10).engine


def test_averages_move_more():
    assert plan(1e12, 2**18, averaged=False).bytes_per_round < plan(1e12, 2**18).bytes_per_round


def test_the_report_has_all_figures():
    assert "MB for each worker" in str(plan(1e12, 2**18, workers=10))


@pytest.mark.parametrize("name", ["data_bytes", "weights", "workers", "network", "disk", "memory"])
def test_figures_without_a_meaning_are_refused(name):
    with pytest.raises(InvalidInput, match=name):
        plan(**{"data_bytes": 1e9, "weights": 100} | {name: 0})
    with pytest.raises(InvalidInput, match="engine"):
        plan(1e9, 100, engine="abacus")
