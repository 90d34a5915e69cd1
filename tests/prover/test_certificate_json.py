"""Certificates as JSON: numbers without loss, and fields that must have their form."""

import json

import pytest

from certificates_by_hand import EXAMPLES, SQUARE, sealed
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.prover.certificates.verify import verify


def test_long_integers_survive():
    long = 3**41_000  # 65,000 bits, about the multipliers of a thousand features
    forged = sealed(EXAMPLES["xor"][2], multipliers=(long,) * 4)
    again = Certificate.from_dict(json.loads(json.dumps(forged.to_dict())))
    assert again.multipliers == (long,) * 4
    assert verify(again, SQUARE, [0, 1, 1, 0])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("multipliers", ["1" * 5000, "1", "1", "1"]),
        ("multipliers", ["1", "1", "1", "01"]),
        ("multipliers", ["1", "1", "1", "0"]),
        ("multipliers", ["1", "1", "1", 1]),
        ("radius", "nan"),
        ("radius", "inf"),
        ("radius", "0x1p99999"),
        ("radius", "1.75"),
        ("shape", [4, 0]),
        ("shape", [10**30, 2]),
        ("support", [0, 1, 2, 4]),
        ("support", [0, 1, 2, True]),
        ("classes", [None, None]),
        ("classes", [0]),
        ("classes", [0, [1]]),
        ("classes", [1, 0]),
        ("classes", [0, "1"]),
        ("classes", [0, True]),
        ("classes", [None, 0, 1]),
        ("estimates", ["finite"]),
        ("estimates", ["finite", "finite", "perhaps"]),
        ("directions", [["1/1"]]),
        ("combinations", [None]),
        ("names", ["a"]),
        ("names", [1, 2]),
        ("multipliers", ["0x" + "f" * 30_000, "1", "1", "1"]),
        ("margin", {"lower": "-0x1.0000000000000p+0", "upper": "inf", "w": [], "rows": [], "weights": []}),
        ("vector", ["1/0", "1/1", "1/1"]),
        ("vector", ["2/4", "1/1", "1/1"]),
        ("vector", ["0x1.0000000000000p+0", "1/1", "1/1"]),
        ("version", 2),
        ("version", True),
        ("verdict", "maybe"),
        ("digest", "0" * 63),
    ],
)
def test_fields_out_of_form_are_refused_with_their_name(field, value):
    document = EXAMPLES["xor"][2].to_dict()
    with pytest.raises(InvalidInput, match=field):
        Certificate.from_dict(document | {field: value})


def test_another_version_is_named_whatever_its_fields_are():
    for document in ({"radius": 1}, EXAMPLES["xor"][2].to_dict()):
        later = document | {"format": "rosenblatt-certificate", "version": 2}
        with pytest.raises(InvalidInput, match=r"version is 2 in the certificate; it must be 1\."):
            Certificate.from_dict(later)
