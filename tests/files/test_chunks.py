"""Chunks and positions are plain tuples."""

from rosenblatt import train
from rosenblatt.files.chunks import Position, ReadProblems, ReadProgress
from rosenblatt.files.opening import open_source


def test_positions_go_through_json_as_lists():
    position = Position(3, 1, 50, 4)
    assert Position(*list(position)) == position
    assert Position() == (0, 0, 0, 0)
    assert (ReadProblems().skipped, ReadProgress(1, 2, None).bytes_total) == (0, None)


def test_a_chunk_can_be_trained_on(tmp_path):
    (tmp_path / "rows.svm").write_text("".join(f"{i % 2} 1:{i} {2 + i % 5}:0.5\n" for i in range(40)))
    (chunk,) = open_source(tmp_path / "rows.svm")
    assert chunk.after.row == 40
    assert train(chunk.table.matrix(), chunk.label, max_iter=1).trials == 40
