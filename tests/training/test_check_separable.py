"""The check of a stalled fit: bounds that no margin exceeds, certificates that verify, budgets that are kept."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import certify, verify
from rosenblatt.data.table import as_table
from rosenblatt.training.check_separable import SeparabilityCheck, check_separable, search_hull
from rosenblatt.training.stopping import SEARCH_MAX_WIDTH, SEARCHED_ROWS

ALL = np.empty(0, np.int32)
SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)


def ask(X, sign, *, subset=ALL, bias=1.0, work=0.0, names=()):
    table = as_table(X)
    sign, W = np.asarray(sign, np.int8), np.zeros(table.shape[1])
    return check_separable(table, sign, subset, W, 0.0, work, bias=bias, names=names)


@given(st.integers(1, 6), st.integers(1, 12), st.integers(0, 999))
def test_the_nearest_point_is_no_nearer_than_possible_and_no_further_than_a_random_search(d, m, seed):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-3, 4, (m, d)).astype(float)
    found, support, origin = search_hull(Z, 1e6)
    assert origin == (found < 1e-9)
    others = rng.dirichlet(np.ones(m), 2000)
    assert found <= np.linalg.norm(others @ Z, axis=1).min() + 1e-9
    assert found <= np.linalg.norm(Z, axis=1).min() + 1e-9
    # The support holds the point: no other combination of its rows comes closer either.
    assert found <= np.linalg.norm(rng.dirichlet(np.ones(support.size), 500) @ Z[support], axis=1).min() + 1e-9
    # Weak duality: no direction has all rows further out than the nearest point.
    directions = rng.standard_normal((500, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert (directions @ Z.T).min(axis=1).max() <= found + 1e-9


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_xor_is_certified(store):
    found = ask(store(SQUARE), [-1, 1, 1, -1], names=("no", "yes"))
    assert found.margin_bound < 1e-9
    assert found.certificate.classes == ("no", "yes")
    assert verify(found.certificate, SQUARE, ["no", "yes", "yes", "no"])
    assert ask(store(SQUARE), [-1, 1, 1, -1]).certificate is None  # no names, no certificate


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_no_margin_exceeds_the_bound(d, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (12, d)).astype(float)
    sign = np.where(X @ rng.integers(-2, 3, d) > 0, 1, -1)
    found = ask(X, sign, work=1e9, names=(-1, 1))
    certificate = certify(X, sign)
    if certificate.verdict == "separable":
        assert found.certificate is None
        assert found.margin_bound >= certificate.augmented.lower * (1 - 1e-9)
    elif len(set(sign.tolist())) == 2:
        assert found.certificate.verdict == certificate.verdict


def test_only_rows_of_the_problem_and_of_the_subset_count():
    line = np.array([[0.0], [1.0], [2.0], [1.0]])
    # Rows 1 and 3 are equal: with different signs nothing separates them, and without one of them the margin is large.
    assert ask(line, [-1, -1, 1, 1]).margin_bound < 1e-9
    assert ask(line, [-1, -1, 1, 0]).margin_bound > 0.1
    assert ask(line, [-1, -1, 1, 1], subset=np.array([0, 1, 2], np.int32)).margin_bound > 0.1


def test_without_a_bias_the_hyperplane_goes_through_the_origin():
    X = np.array([[1.0], [2.0]])
    assert ask(X, [-1, 1], bias=0.0).margin_bound < 1e-9
    assert ask(X, [-1, 1], bias=1.0).margin_bound > 0.1


def test_the_hardest_of_many_rows_are_searched():
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 2.0, (4 * SEARCHED_ROWS, 2))
    sign = np.where(np.arange(len(X)) < len(X) // 2, -1, 1)
    X[sign > 0] += 3.0
    X[0], X[-1] = X[-1], X[0]  # one of each class among the others
    table = as_table(X)
    found = check_separable(table, sign, ALL, np.array([1.0, 1.0]), -6.5, 0.0)
    assert found.margin_bound < 1e-9


def test_wide_rows_are_not_searched():
    X = np.zeros((2, SEARCH_MAX_WIDTH))
    assert ask(X, [-1, 1], names=(-1, 1)) == SeparabilityCheck(np.inf, None)


def test_a_proof_waits_until_the_run_has_done_enough_work():
    rng = np.random.default_rng(0)
    X, sign = rng.standard_normal((300_000, 2)), rng.choice([-1, 1], 300_000)
    early, late = (ask(X, sign, work=work, names=(-1, 1)) for work in (0.0, 1e8))
    assert early.margin_bound == pytest.approx(late.margin_bound, abs=1e-9)
    assert early.certificate is None
    assert verify(late.certificate, X, sign)


def test_a_proof_from_two_rows_of_many_columns_waits_as_it_must_look_at_all_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    sign = np.where(X[:, 0] > 0, 1, -1)
    X, sign = np.vstack([X, X[:1]]), np.append(sign, -sign[0])  # one row of both classes
    early, late = (ask(X, sign, work=work, names=(-1, 1)) for work in (0.0, 1e9))
    assert early.margin_bound < 1e-9
    assert early.certificate is None
    assert late.certificate.verdict == "quasi-separable"
    assert verify(late.certificate, X, sign)


def test_the_stopping_rules_load_neither_search_nor_proof():
    script = (
        "import sys\n"
        "import rosenblatt.training.stopping\n"
        "rooms = ('rosenblatt.prover.search', 'rosenblatt.prover.certificates', 'rosenblatt.prover.exact')\n"
        "loaded = [name for name in sys.modules if name.startswith(rooms)]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
