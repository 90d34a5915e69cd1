"""Records in few lines."""

from dataclasses import dataclass

import numpy as np

from rosenblatt.reprs import brief


@dataclass
class Record:
    long: tuple
    array: object
    text: str = ""
    nothing: object = None
    number: float = 1 / 3
    inner: object = None


def test_a_record_is_brief():
    text = brief(Record(tuple(range(10**5)), np.zeros((10**5, 3)), "word " * 1000, inner=Record((), 0)), ["number"])
    assert text.startswith(
        "Record(\n    number=0.333333, long=(0, 1, 2, 3, 4, 5, ... 99994 more), array=array of shape"
    )
    assert "inner=Record(...)" in text
    assert "nothing" not in text
    assert max(map(len, text.splitlines())) <= 110
    assert len(text.splitlines()) < 12
    assert brief(Record((1,), 2)) == "Record(long=(1,), array=2, number=0.333333)"
