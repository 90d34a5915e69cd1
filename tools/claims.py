"""What the README and the site's first page claim, as it was measured.

The measurements are in benchmarks/claims.json, written by

    python -m benchmarks mnist csr64 latency certify_large units --repeat 3 --json benchmarks/claims.json
"""

import json
from pathlib import Path
from typing import NamedTuple

MEASURED = Path(__file__).parents[1] / "benchmarks" / "claims.json"


class Claim(NamedTuple):
    """Work, who else does it, the time or the count of both, and the benchmark that measures it."""

    work: str
    peer: str
    ours: float
    theirs: float
    unit: str
    benchmark: str


# The work in words, and where the benchmark has it. Of the proofs, the one whose lead is smallest.
TIMES = (
    ("one pass over MNIST: 60,000 images, ten classes", "mnist", "epoch, n_jobs=None", "scikit-learn"),
    ("one pass over 200,000 sparse rows, shuffled", "csr64", "epoch, shuffle=True", "scikit-learn"),
    ("the same in stored order", "csr64", "epoch, shuffle=False", "scikit-learn"),
    ("predict a row, then learn it: a dict of 100 numbers", "latency", "Perceptron, dicts of 100, 2 classes", "river"),
    ("the same with 6 numbers", "latency", "Perceptron, dicts of 6, 2 classes", "river"),
    (
        "decide whether 100,000 rows can be separated",
        "certify_large",
        "1% of the labels turned over",
        "HiGHS interior point",
    ),
)
WRONG = "wrong answers in 1,800 data sets: can a logistic regression be estimated?"


def claims():
    """Return every claim, in the order of the table."""
    cases = {case["case"]: case for case in json.loads(MEASURED.read_text())["cases"]}
    found = []
    for work, name, measured, peer in TIMES:
        same = [one for one in cases[name]["figures"] if (one["measured"], one["peer_name"]) == (measured, peer)]
        found.append(Claim(work, peer, same[0]["rosenblatt"], same[0]["peer"], "s", name))
    answers = cases["units"]["tables"][0]
    wrong = [sum(int(row[f"wrong: {name}"]) for row in answers) for name in ("rosenblatt", "firthmodels")]
    return [*found, Claim(WRONG, "firthmodels", *wrong, "", "units")]


def amount(value, unit):
    """Return a time with two digits, or a count.

    Examples
    --------
    >>> amount(0.0342, "s"), amount(0.666, "s"), amount(8.04, "s"), amount(11.0e-6, "s"), amount(606, "")
    ('34 ms', '670 ms', '8.0 s', '11 µs', '606')
    """
    if unit != "s":
        return f"{value:,}"
    scale, name = next(((scale, name) for scale, name in ((1, "s"), (1e3, "ms")) if value * scale >= 1), (1e6, "µs"))
    digits = f"{value * scale:.1f}" if value * scale < 10 else f"{float(f'{value * scale:.2g}'):.0f}"
    return f"{digits} {name}"


def table():
    """Yield the lines of the README's table."""
    yield "| measured | rosenblatt | beside | | repeat it with `python -m benchmarks` |"
    yield "|---|---|---|---|---|"
    for claim in claims():
        ratio = f"{claim.theirs / claim.ours:.2g} times as fast" if claim.unit == "s" else ""
        beside = f"{amount(claim.theirs, claim.unit)}, {claim.peer}"
        yield f"| {claim.work} | {amount(claim.ours, claim.unit)} | {beside} | {ratio} | `{claim.benchmark}` |"
