"""Raw text becomes the rows that plain Python makes of it."""

import numpy as np

from files.common import read
from oracles import features as oracle
from rosenblatt import TextHasher
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions


def test_each_line_is_a_label_and_the_words_of_its_text(tmp_path):
    lines = ["spam\tWin MONEY, money!", "", "ham\tSee you\tat noon", "ham\t", " spam \tÉté ΟΔΟΣ\r"]
    (tmp_path / "a.txt").write_bytes("\n".join(lines).encode())
    rows, labels, _ = read(tmp_path / "a.txt", format="text")
    assert labels == ["spam", "ham", "ham", "spam"]
    for row, line in zip(rows, [line for line in lines if line], strict=True):
        expected = oracle.text_row(line.partition("\t")[2].encode())
        assert [column for column, _ in row] == sorted(expected)
        np.testing.assert_allclose([value for _, value in row], [expected[column] for column, _ in row])


def test_files_and_the_transformer_give_the_same_rows(tmp_path, real_data):
    lines = (real_data / "sms_spam" / "SMSSpamCollection").read_bytes().split(b"\n")[:500]
    (tmp_path / "a").write_bytes(b"\n".join(lines))
    for words, letters in (((1, 1), None), ((1, 2), (2, 3))):
        (chunk,) = open_source(tmp_path / "a", features=FeatureOptions(words=words, letters=letters))
        X = TextHasher(words=words, letters=letters).transform(line.partition(b"\t")[2] for line in lines)
        assert (chunk.table.matrix() != X).nnz == 0
