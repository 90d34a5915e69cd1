"""Separation as it was published, for designs of papers, textbooks and manuals."""

import numpy as np
import pytest
from scipy.optimize import linprog

from attacks.fuzz_designs import differences_of_cuts
from oracles import cones
from prover.literature import COMPLETE, CONSTANT, DESIGNS, OVERLAP, QUASI
from rosenblatt import certify, verify


def model(design):
    kind = getattr(cones, design.kind)
    X = [[int(v) for v in row] for row in design.X]
    return kind(X, design.y) if design.constant else kind(X, design.y, constant=False)


def named(design, estimates):
    """The estimates by the names of the coefficients."""
    if design.kind == "ordinal":
        return dict(zip([*design.columns, *(f"cut {k}" for k in range(max(design.y)))], estimates, strict=True))
    columns = [*design.columns, CONSTANT]
    foods = ("invertebrate", "reptile", "bird", "other")
    names = [f"{food}: {column}" for food in foods for column in columns] if design.kind == "multinomial" else columns
    return dict(zip(names, estimates, strict=True))


@pytest.mark.parametrize("name", DESIGNS)
def test_the_oracle_says_what_was_published(name):
    design = DESIGNS[name]
    verdict, _, estimates = cones.answers(model(design))
    assert verdict == design.verdict
    found = named(design, estimates)
    assert {column: found[column] for column in design.published} == design.published


@pytest.mark.parametrize("name", DESIGNS)
def test_a_linear_program_in_floats_sees_the_same(name):
    """Maximise the sum of s under A w >= s, E w = 0, 0 <= s <= 1: it counts the rows that can be positive."""
    design = DESIGNS[name]
    rows = model(design)
    A, E = (np.array(part, float).reshape(-1, len((rows.above or rows.equal)[0])) for part in (rows.above, rows.equal))
    n, width = A.shape
    shares = linprog(
        np.append(np.zeros(width), -np.ones(n)),
        A_ub=np.hstack([-A, np.eye(n)]),
        b_ub=np.zeros(n),
        A_eq=np.hstack([E, np.zeros((len(E), n))]),
        b_eq=np.zeros(len(E)),
        bounds=[(None, None)] * width + [(0, 1)] * n,
    ).x[width:]
    complete = (shares > 0.5).all() and not len(E)
    assert design.verdict == (COMPLETE if complete else QUASI if (shares > 0.5).any() else OVERLAP)


@pytest.mark.parametrize("name", DESIGNS)
def test_certify_says_what_was_published(name):
    design = DESIGNS[name]
    family = {"grouped": "binomial", "binary": None}.get(design.kind, design.kind)
    X, y = np.array(design.X, int), np.array(design.y)
    found = certify(X, y, family=family, fit_intercept=design.constant, margin=False, coefficients=True)
    rows = model(design)
    cuts = differences_of_cuts(X, y) if design.kind == "ordinal" else None
    assert (found.verdict, found.extreme, found.estimates) == cones.answers(rows, coefficients=cuts)
    assert verify(found, X, y)


@pytest.mark.parametrize("name", [name for name, one in DESIGNS.items() if one.kind == "grouped" and one.constant])
def test_groups_say_what_their_single_rows_say(name):
    design = DESIGNS[name]
    X, pairs = np.array(design.X, int), np.array(design.y)
    X, y = np.repeat(np.vstack([X, X]), pairs.T.ravel(), axis=0), np.repeat([1, 0], pairs.sum(axis=0))
    found = certify(X, y, margin=False, coefficients=True)
    verdict, _, estimates = cones.answers(model(design))
    assert (found.verdict, found.estimates) == (verdict, estimates)
