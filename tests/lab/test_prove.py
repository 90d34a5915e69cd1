"""Proofs that the page finds itself, against the package's verifier, prover and the checker without packages."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rosenblatt import Certificate, certify, verify

HERE = Path(__file__).parent
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")


def proved(scenes):
    """Return the page's certificate of each (X, y)."""
    lines = "\n".join(json.dumps({"X": X.tolist(), "y": y.tolist()}) for X, y in scenes)
    done = subprocess.run([NODE, HERE / "prove_lines.mjs"], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def under_quadratic_map(X):
    return np.column_stack([X, X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2])


def random_scene(rng, kind):
    """Return points of the plane, or under the quadratic map: grids, decimals, floats, lines; most near separable."""
    n = int(rng.integers(2, 40))
    X = {
        "grid": lambda: rng.integers(-3, 4, (n, 2)).astype(float),
        "square": lambda: rng.integers(0, 2, (n, 2)).astype(float),
        "decimals": lambda: rng.normal(size=(n, 2)).round(2),
        "floats": lambda: rng.normal(size=(n, 2)),
        "sizes": lambda: rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-9, 9, (n, 2)),
        "line": lambda: np.outer(rng.normal(size=n).round(1), [1.0, 2.0]),
    }[kind]()
    y = (X @ rng.normal(size=2) > 0.3 * rng.normal()).astype(int) if rng.random() < 0.7 else rng.integers(0, 2, n)
    y[rng.integers(n)] ^= rng.random() < 0.3
    y[0] = 1 - y[1:].max(initial=0) if len(np.unique(y)) < 2 else y[0]
    return (under_quadratic_map(X) if rng.random() < 0.4 else X), 2 * y - 1


def random_scenes(count, seed):
    rng = np.random.default_rng(seed)
    kinds = ("grid", "square", "decimals", "floats", "sizes", "line")
    return [scene for k in range(count) if len(set((scene := random_scene(rng, kinds[k % len(kinds)]))[1])) == 2]


@pytest.fixture(scope="module")
def scenes():
    return random_scenes(300, seed=1)


@pytest.fixture(scope="module")
def certificates(scenes):
    return proved(scenes)


def test_every_certificate_of_the_page_is_verified_and_has_the_provers_verdict(scenes, certificates):
    assert len(certificates) == len(scenes) > 250
    for (X, y), found in zip(scenes, certificates, strict=True):
        certificate = Certificate.from_dict(found)
        assert verify(certificate, X, y)
        assert certificate.verdict == certify(X, y, exact="decimal").verdict
    verdicts = Counter(found["verdict"] for found in certificates)
    assert min(verdicts[name] for name in ("separable", "quasi-separable", "overlapping")) > 10


def test_the_pages_margins_are_the_largest_to_the_last_bit(scenes, certificates):
    for (X, y), found in zip(scenes, certificates, strict=True):
        if found["verdict"] == "separable":
            ours, theirs = Certificate.from_dict(found), certify(X, y, exact="decimal")
            for mine, other in ((ours.margin, theirs.margin), (ours.augmented, theirs.augmented)):
                assert mine.upper <= np.nextafter(mine.lower, np.inf)
                assert other.lower <= mine.upper
                assert mine.lower <= other.upper
            assert ours.mistake_bound <= theirs.mistake_bound


def test_the_checker_without_packages_accepts_the_pages_certificates(scenes, certificates, tmp_path):
    checker = HERE.parents[1] / "tools" / "check_certificate.py"
    for k in range(0, len(scenes), 15):
        (X, y), found = scenes[k], certificates[k]
        rows = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
        (tmp_path / "data.csv").write_text("\n".join(rows))
        (tmp_path / "certificate.json").write_text(json.dumps(found))
        call = [sys.executable, checker, tmp_path / "certificate.json", tmp_path / "data.csv"]
        assert subprocess.run(call, capture_output=True, text=True).stdout == f"holds: {found['verdict']}\n"


def test_a_certificate_of_the_page_is_about_its_own_points_only(scenes, certificates):
    (X, y), found = scenes[1], Certificate.from_dict(certificates[1])
    moved = X.copy()
    moved[0, 0] += 1.0
    assert not verify(found, moved, y)
    assert not verify(found, X, -y)


def test_xor_is_proved_by_the_midpoints_of_its_diagonals():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    (found,) = proved([(X, np.array([-1, 1, 1, -1]))])
    assert found["verdict"] == "overlapping"
    assert found["support"] == [0, 1, 2, 3]
    assert found["multipliers"] == ["1", "1", "1", "1"]
    assert found["point"] == [(0.5).hex(), (0.5).hex()]
