"""Proofs that the page finds itself, against the package's verifier, its prover and the checker without packages."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pages_engine import answers
from rosenblatt import Certificate, certify, verify
from rosenblatt.lab.scene import Scene

CHECKER = Path(__file__).parents[2] / "tools" / "check_certificate.py"


def random_points(rng, kind):
    """Return labelled points of the plane: grids, decimals, floats, sizes that differ, a line; many near separable."""
    n = int(rng.integers(3, 40))
    X = {
        "grid": lambda: rng.integers(-3, 4, (n, 2)).astype(float),
        "square": lambda: rng.integers(0, 2, (n, 2)).astype(float),
        "decimals": lambda: rng.normal(size=(n, 2)).round(2),
        "floats": lambda: rng.normal(size=(n, 2)),
        "sizes": lambda: rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-4, 4, (n, 2)),
        "line": lambda: np.outer(rng.normal(size=n).round(1), [1.0, 2.0]),
    }[kind]()
    y = (X @ rng.normal(size=2) > 0.3 * rng.normal()).astype(int) if rng.random() < 0.7 else rng.integers(0, 2, n)
    y[2] ^= rng.random() < 0.3
    y[:2] = 0, 1
    return [[*x, c] for x, c in zip(X.tolist(), y.tolist(), strict=True)]


def random_scenes(count, seed):
    rng = np.random.default_rng(seed)
    kinds = ("grid", "square", "decimals", "floats", "sizes", "line")
    features = ["quadratic" if rng.random() < 0.4 else "none" for _ in range(count)]
    points = [random_points(rng, kinds[k % len(kinds)]) for k in range(count)]
    pairs = zip(points, features, strict=True)
    return [Scene.from_dict({"data": "points", "points": one, "features": way}) for one, way in pairs]


def rows_of(scene):
    """Return the mapped rows of a scene, and their labels."""
    X, y = scene.rows()
    return scene.mapped(X)[0], y


def proved(scenes):
    """Return the page's answer for each scene."""
    return answers(["certificate", scene.as_dict()] for scene in scenes)


@pytest.fixture(scope="module")
def proofs():
    """Return rows, labels and the page's certificate of random scenes."""
    scenes = random_scenes(300, seed=1)
    return [(*rows_of(scene), found["json"]) for scene, found in zip(scenes, proved(scenes), strict=True)]


def test_every_certificate_of_the_page_is_verified_and_has_the_provers_verdict(proofs):
    for Z, y, found in proofs:
        assert verify(Certificate.from_dict(found), Z, y)
        assert found["verdict"] == certify(Z, y, exact="decimal").verdict
    verdicts = Counter(found["verdict"] for *_, found in proofs)
    assert min(verdicts[name] for name in ("separable", "quasi-separable", "overlapping")) > 10


def test_the_pages_margins_are_the_largest_to_the_last_bit(proofs):
    for Z, y, found in proofs:
        if found["verdict"] == "separable":
            ours, theirs = Certificate.from_dict(found), certify(Z, y, exact="decimal")
            for mine, other in ((ours.margin, theirs.margin), (ours.augmented, theirs.augmented)):
                assert mine.upper <= np.nextafter(mine.lower, np.inf)
                assert other.lower <= mine.upper
                assert mine.lower <= other.upper
            assert ours.mistake_bound <= theirs.mistake_bound


def test_the_checker_without_packages_accepts_the_pages_certificates(proofs, tmp_path):
    for Z, y, found in proofs[::15]:
        rows = [",".join([*map(repr, row), str(label)]) for row, label in zip(Z.tolist(), y.tolist(), strict=True)]
        (tmp_path / "data.csv").write_text("\n".join(rows))
        (tmp_path / "certificate.json").write_text(json.dumps(found))
        call = [sys.executable, CHECKER, tmp_path / "certificate.json", tmp_path / "data.csv"]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.stdout == f"holds: {found['verdict']}\n"


def test_a_certificate_of_the_page_is_about_its_own_points_only(proofs):
    Z, y, found = proofs[1]
    moved = Z.copy()
    moved[0, 0] += 1.0
    assert not verify(Certificate.from_dict(found), moved, y)
    assert not verify(Certificate.from_dict(found), Z, 1 - y)


def test_xor_is_proved_by_the_midpoints_of_its_diagonals():
    (found,) = proved([Scene.from_query("data=xor")])
    assert found["verdict"] == "overlapping"
    assert found["json"]["multipliers"] == ["1", "1", "1", "1"]
    assert found["common_exact"] == ["1/2", "1/2"]


def test_a_proof_about_several_classes_needs_python():
    (found,) = proved([Scene.from_query("data=three")])
    assert found["error"].startswith("A proof about more than two classes needs the installed lab.")
