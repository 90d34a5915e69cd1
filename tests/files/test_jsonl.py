"""JSON lines: names within objects, lists, truth values; what is refused."""

import pytest

from files.common import named, read
from rosenblatt.errors import InvalidInput
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import FeatureOptions

TEXT = """{"label": "spam", "age": 3, "text": "big BIG world now", "tags": ["a", "b"], "in": {"c": "red", "v": 2.5}}

{"label": "ham", "age": null, "text": "nothing more to see", "ok": true, "late": "a text that comes late"}
{"age": 0, "label": "ham", "text": "caf\\u00e9 and more words", "in": {"c": "blue"}}
"""


def test_all_that_an_object_holds_is_a_feature(tmp_path):
    (tmp_path / "a.jsonl").write_text(TEXT)
    options = {"features": FeatureOptions(dictionary=True, counts="count"), "columns": {"late": "category"}}
    source = open_source(tmp_path / "a.jsonl", **options)
    rows = named(source)
    assert rows[0] == {
        "age": 3, "tags=a": 1, "tags=b": 1, "in.c=red": 1, "in.v": 2.5, "text=big": 2, "text=world": 1, "text=now": 1,
    }  # fmt: skip
    assert rows[1]["ok"] == rows[1]["late=a text that comes late"] == rows[2]["text=café"] == 1
    assert "age" not in rows[1] | rows[2]
    small = open_source(tmp_path / "a.jsonl", chunk_bytes=10, **options)
    assert named(small) == rows
    assert small.names == source.names


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 2]", "is not a JSON object"),
        ('{"label": 1', "is not a JSON object"),
        ('{"label": 1, "x": [[1]]}', "is not a JSON object"),
        ('{"label": 1, "x": NaN}', "nan of 'x' is not a finite number"),
        ('{"x": 1}', "there is no label 'label'"),
        ('{"label": "spam"}', "the label 'spam' is not a number"),
        ('{"label": 1, "x": ' + "[" * 100_000, "is not a JSON object"),
    ],
)
def test_faults_are_told_with_line_and_piece(tmp_path, line, message):
    (tmp_path / "a.jsonl").write_text('{"label": 1, "x": 2}\n' * 400 + line + '\n{"label": 0, "x": 1}\n')
    with pytest.raises(InvalidInput, match=f"a.jsonl, line 401: .*{message}"):
        read(tmp_path / "a.jsonl", label_type="number")
    assert len(read(tmp_path / "a.jsonl", label_type="number", on_error="skip")[1]) == 401
