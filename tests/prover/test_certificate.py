"""The record: files, digest, words, shapes, pictures."""

import json
import os
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from certificates_by_hand import EXAMPLES, SQUARE, proved, sealed
from rosenblatt import certify
from rosenblatt.data.table import as_table
from rosenblatt.errors import InvalidInput
from rosenblatt.prover.certificates import certificate_json
from rosenblatt.prover.certificates.certificate import Certificate, digest
from rosenblatt.prover.certificates.verify import verify


@pytest.mark.parametrize("name", EXAMPLES)
def test_files_round_trip(name, tmp_path):
    X, y, certificate = EXAMPLES[name]
    certificate.save(tmp_path / "proof.json")
    again = Certificate.load(tmp_path / "proof.json")
    assert again == certificate
    assert verify(again, X, y)
    assert [path.name for path in tmp_path.iterdir()] == ["proof.json"]


def test_the_digest_is_of_the_data_not_of_their_storage():
    rng = np.random.default_rng(1)
    X = rng.integers(-1, 2, (700, 40)) * rng.random((700, 40))
    label = rng.integers(0, 3, 700)
    stored = sp.csr_array(X)
    with_zero = sp.csr_array(X + (X == 0) * 5.0)
    with_zero.data[with_zero.data == 5.0] = -0.0
    forms = [as_table(form) for form in (X, np.where(X == 0, -0.0, X), stored, with_zero, np.asfortranarray(X))]
    seen = {layout: {digest(table, label, layout) for table in forms} for layout in ("dense", "sparse")}
    assert all(len(found) == 1 for found in seen.values())
    assert seen["dense"] != seen["sparse"]
    single = X.astype(np.float32)
    assert digest(as_table(single), label, "dense") == digest(as_table(single.astype(float)), label, "dense")
    assert digest(as_table(X), 2 - label, "dense") not in seen["dense"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": "rosenblatt-certificate", "version": 1}',
        b"9" * 10_000,
        b'{"a": NaN}',
    ],
)
def test_files_that_are_no_certificates_are_refused(content, tmp_path):
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput):
        Certificate.load(path)


def test_only_regular_files_are_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in ("/dev/zero", pipe, tmp_path):
        with pytest.raises((InvalidInput, IsADirectoryError)):
            Certificate.load(path)


def test_files_that_look_like_certificates_are_refused(tmp_path):
    document = EXAMPLES["xor"][2].to_dict()
    text, path = json.dumps(document), tmp_path / "other.json"
    twice = text[:-1] + ', "verdict": "overlapping"}'
    for content in (text.encode("utf-16"), b"\xef\xbb\xbf" + text.encode(), twice.encode(), text.encode()[:-1]):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="not a certificate"):
            Certificate.load(path)
    path.write_text(text)
    assert Certificate.load(path) == EXAMPLES["xor"][2]


def test_a_fraction_of_millions_of_bits_is_refused_at_once(tmp_path):
    document = EXAMPLES["quasi"][2].to_dict()
    path = tmp_path / "long.json"
    path.write_text(json.dumps(document | {"vector": ["0/1", f"{hex(3**1_261_859)}/{hex(2**2_000_000)}"]}))
    with pytest.raises(InvalidInput, match="at most 18584 digits for 2 columns"):
        Certificate.load(path)
    many = (Fraction(3**20_000, 2**31_000),) * 2
    assert verify(sealed(EXAMPLES["quasi"][2], vector=(many[0], Fraction(0))), *EXAMPLES["quasi"][:2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificate_json, "MAX_EFFORT", 1 << 30)
        with pytest.raises(InvalidInput, match="takes too long"):
            Certificate.from_dict(document | {"vector": [certificate_json.real_text(v) for v in many]})


def test_the_proof_of_xor_reads_as_in_a_lecture():
    text = str(EXAMPLES["xor"][2])
    assert "overlap (not linearly separable)" in text
    assert "the midpoint of rows 1 and 2 equals the midpoint of rows 0 and 3" in text
    assert "meet at (0.5, 0.5)" in text


def test_words_say_what_each_certificate_proves():
    assert "at most 27 mistakes" in str(EXAMPLES["or"][2])
    assert "row 1 equals row 0, which has the other label" in str(EXAMPLES["quasi"][2])
    assert "zero on 2 rows: 0, 1." in str(EXAMPLES["quasi"][2])
    assert "only one class" in str(EXAMPLES["one class"][2])
    sides = {"rivals": [1] * 20 + [0] * 20, "multipliers": range(1, 41)}
    many = proved(np.zeros((40, 1)), [0] * 20 + [1] * 20, verdict="overlapping", support=range(40), **sides)
    assert "(14 more)" in str(many)
    undecided = proved(SQUARE, [0, 1, 1, 0], verdict="undecided", reason="The time limit was over.")
    assert str(undecided).endswith("undecided. The time limit was over.")
    assert not verify(undecided, SQUARE, [0, 1, 1, 0])


def test_separators_have_the_shape_of_a_model():
    w, b = EXAMPLES["or"][2].separator
    assert w.dtype == np.float64
    assert (w.tolist(), b) == ([2.0, 2.0], -1.0)
    W, b = EXAMPLES["three"][2].separator
    assert W.shape == (3, 2)
    assert not W[0].any()
    X = EXAMPLES["three"][0]
    assert np.argmax(X.astype(int) @ W.T + b, axis=1).tolist() == [0, 1, 2]
    assert W[1, 0] == Fraction(1)
    assert b[1] == Fraction(-1, 3)
    assert EXAMPLES["xor"][2].separator is None


def test_extreme_samples_are_those_off_the_boundary():
    assert EXAMPLES["or"][2].extreme == (0, 1, 2, 3)
    assert EXAMPLES["quasi"][2].extreme == (2, 3)
    assert EXAMPLES["xor"][2].extreme == ()


def test_pictures_show_the_witnesses():
    pytest.importorskip("matplotlib")
    from rosenblatt.plots import plot_certificate

    X, y, certificate = EXAMPLES["xor"]
    ax = plot_certificate(certificate, X, y)
    star = next(mark for mark in ax.collections if mark.get_label() == "common point")
    assert star.get_offsets().tolist() == [[0.5, 0.5]]
    outlines = [{tuple(corner) for corner in line.get_xydata().tolist()} for line in ax.lines]
    assert {(0.0, 0.0), (1.0, 1.0)} in outlines
    assert {(0.0, 1.0), (1.0, 0.0)} in outlines
    X, y, certificate = EXAMPLES["or"]
    ax = plot_certificate(certificate, X, y)
    band = {tuple(np.round(line.get_xy1(), 12)) for line in ax.lines}
    assert band == {(0.0, 0.0), (0.25, 0.25), (0.5, 0.5)}  # the separator x1 + x2 = 1/2, and the rims of its band
    plot_certificate(*(EXAMPLES["one class"][k] for k in (2, 0, 1)))


def test_pictures_of_other_data_are_refused():
    pytest.importorskip("matplotlib")
    from rosenblatt.plots import plot_certificate

    X, y, certificate = EXAMPLES["xor"]
    with pytest.raises(InvalidInput):
        plot_certificate(certificate, X[:3], y[:3])
    X, y, certificate = EXAMPLES["three"]
    with pytest.raises(InvalidInput):
        plot_certificate(certificate, X, y)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ((Decimal(2), Decimal(10)), ("10", "2")),
        ((b"A", b"\x01"), (r"b'A'", r"b'\x01'")),
        ((True, 2), ("2", "True")),
        ((Fraction(1, 2), Fraction(3)), ("1/2", "3")),
        ((1, 2.5), (1, 2.5)),
    ],
)
def test_labels_that_json_does_not_have_go_by_their_texts(labels, names):
    X, y = [[0.0], [1.0], [2.0]], np.array([labels[0], labels[1], labels[1]], object)
    certificate = certify(X, y)
    assert certificate.classes == names
    assert verify(certificate, X, y)


def test_labels_that_print_alike_are_refused():
    y = np.array([Decimal("1"), "1"], object)
    with pytest.raises(InvalidInput):
        certify([[0.0], [1.0]], y)
