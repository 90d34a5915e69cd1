"""What is on disk is the model, or is refused by name: damage, leftovers, full disks, the end of the process."""

import re
import shutil
import sys

import httpx
import pytest

from commands import spawn
from rosenblatt.errors import InvalidInput
from rosenblatt.serving.model import State, decoded_state, encoded
from rosenblatt.serving.record import Record
from rosenblatt.serving.store import Store
from served import Server, contents

MODEL = "/v1/models/m"
ROWS = [{"x": [0.5 * k, 1.0 - k % 3], "y": ["a", "b", "c"][k % 3]} for k in range(20)]


def file_of(client):
    """What the model has learned."""
    return contents(client.get(f"{MODEL}/file").content)


def learned(client, rows):
    """Learn rows, one request each; return the model file after each."""
    files = []
    for row in rows:
        assert client.post(f"{MODEL}/learn", json=row).status_code == 200
        files.append(file_of(client))
    return files


def reopened(folder):
    """The sequence number and the file of the model in a folder."""
    store = Store(folder)
    model = store.open()
    store.close()
    return model.state.seq, contents(model.known.save())


@pytest.fixture
def folder(client, tmp_path):
    """The folder of a model after three changes, a snapshot, and three more, as a crash leaves it; and its files."""
    assert client.put(MODEL, json={"learner": "perceptron"}).status_code == 201
    learned(client, ROWS[:3])
    assert client.post(f"{MODEL}/snapshots").json() == {"snapshot": 3}
    files = learned(client, ROWS[3:6])
    shutil.copytree(tmp_path / "models" / "m", tmp_path / "copy")
    return tmp_path / "copy", files


def test_a_change_that_is_torn_off_anywhere_is_cut(folder):
    folder, files = folder
    journal = folder / "journal-3"
    content = journal.read_bytes()
    assert reopened(folder) == (6, files[2])
    last = content.rstrip(b"\n").rindex(b"\n") + 1
    for size in range(last, len(content)):
        journal.write_bytes(content[:size])
        assert reopened(folder) == (5, files[1]), size
        assert journal.read_bytes() == content[:last]


def test_a_byte_that_is_flipped_before_the_end_is_refused_by_name(folder):
    folder, _ = folder
    journal = folder / "journal-3"
    content = journal.read_bytes()
    answered = content[: content.rstrip(b"\n").rindex(b"\n")]
    for place in range(len(answered)):
        journal.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(InvalidInput, match=re.escape(str(journal))):
            reopened(folder)


def test_a_snapshot_that_is_damaged_is_refused_by_name(folder):
    folder, _ = folder
    snapshot = folder / "snapshot-3"
    content = snapshot.read_bytes()
    for place in (0, len(content) // 2, len(content) - 1):
        snapshot.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(InvalidInput, match=re.escape(str(folder))):
            reopened(folder)


def test_the_service_does_not_start_with_damage_and_names_it(folder, tmp_path):
    folder, _ = folder
    models = tmp_path / "damaged"
    models.mkdir()
    shutil.move(folder, models / "m")
    journal = models / "m" / "journal-3"
    content = journal.read_bytes()
    journal.write_bytes(content[:100].replace(b"row", b"roe") + content[100:])
    done = spawn("serve", models, "--port", 0, timeout=60)
    assert done.returncode != 0
    assert str(journal) in done.stderr
    assert "Traceback" not in done.stderr


def test_what_an_interrupted_snapshot_leaves_is_removed(folder):
    folder, files = folder
    (folder / "snapshot-6").write_bytes(b"the beginning of a mod")  # before its journal
    assert reopened(folder) == (6, files[2])
    assert not (folder / "snapshot-6").exists()
    shutil.copy(folder / "snapshot-3", folder / "snapshot-6")  # with a journal that does not have the state yet
    (folder / "journal-6").write_bytes((folder / "journal-3").read_bytes().partition(b"\n")[0] + b"\n")
    assert reopened(folder) == (6, files[2])
    assert not (folder / "journal-6").exists()
    assert not (folder / "snapshot-6").exists()


def test_what_an_interrupted_creation_or_deletion_leaves_is_no_model(client, crashed, tmp_path):
    client.put(MODEL, json={"learner": "perceptron"})
    models = tmp_path / "models"
    shutil.copytree(models / "m", models / ".new-other")
    (models / ".new-other" / "journal-0").unlink()
    shutil.copytree(models / "m", models / ".deleted-old")
    with crashed() as other:
        assert [model["name"] for model in other.get("/v1/models").json()["models"]] == ["m"]
        assert other.put("/v1/models/other", json={}).status_code == 201
        assert other.put("/v1/models/old", json={}).status_code == 201


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's")
def test_a_full_disk_refuses_changes_and_goes_on_when_there_is_room(tmp_path):
    """The kernel refuses what would make a file larger than a limit."""
    import resource

    wide = [{"x": [float(k == j) for j in range(2000)], "y": "ab"[k % 2]} for k in range(8)]

    def files_may_have(bytes):
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (bytes, hard))

    def learn(row, key):
        return server.client.post(f"{MODEL}/learn", json=row, headers={"idempotency-key": key})

    models = tmp_path / "models"
    with Server(models) as server:
        server.client.put(MODEL, json={"learner": "perceptron"})
        for k in range(3):
            assert learn(wide[k], str(k)).json()["seq"] == k + 1
        assert server.client.post(f"{MODEL}/snapshots").json() == {"snapshot": 3}
        before = file_of(server.client)

        files_may_have((models / "m" / "journal-3").stat().st_size + 1000)  # a part of the line is written
        for _ in range(2):
            refused = learn(wide[3], "3")
            assert refused.status_code == 503
            assert refused.json()["type"] == "/problems#disk"
            assert refused.headers["retry-after"]
        assert file_of(server.client) == before
        assert server.client.get(f"{MODEL}/metrics").json()["seq"] == 3
        files_may_have(resource.RLIM_INFINITY)
        assert learn(wide[3], "3").json()["seq"] == 4

        # Room for a change, but not for a snapshot: the change is made, and is not refused.
        size = (models / "m" / "journal-3").stat().st_size
        assert size + 1000 < (models / "m" / "snapshot-3").stat().st_size
        files_may_have(size + 1000)
        assert server.client.post(f"{MODEL}/snapshots").json()["type"] == "/problems#disk"
        rolled = server.client.post(f"{MODEL}/rollback", json={"snapshot": 3})
        assert (rolled.status_code, rolled.json()) == (200, {"seq": 5, "snapshot": 3})
        files_may_have(resource.RLIM_INFINITY)
        assert file_of(server.client) == before
        for k in range(4, 8):
            learn(wide[k], str(k))
        after = file_of(server.client)
        server.kill()
    with Server(models) as again:
        assert file_of(again.client) == after
    with Server(tmp_path / "other") as whole:
        whole.client.put(MODEL, json={"learner": "perceptron"})
        whole.client.post(f"{MODEL}/learn", json=[wide[k] for k in (0, 1, 2, 4, 5, 6, 7)])
        assert file_of(whole.client) == after


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's")
def test_a_model_that_cannot_be_read_again_takes_no_changes_and_keeps_its_files(tmp_path):
    import resource

    models = tmp_path / "models"
    with Server(models) as server:
        server.client.put(MODEL, json={"learner": "perceptron"})
        for row in ROWS[:3]:
            server.client.post(f"{MODEL}/learn", json=row)
        journal = models / "m" / "journal-0"
        with open(journal, "r+b") as file:
            file.seek(100)
            file.write(b"#")
        damaged = journal.read_bytes()
        limit = len(damaged), resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limit)
        assert server.client.post(f"{MODEL}/learn", json=ROWS[3]).status_code == 503
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, limit[1]))
        assert server.client.post(f"{MODEL}/learn", json=ROWS[3]).status_code == 503
        assert server.client.put("/v1/models/n", json={}).status_code == 201  # others go on
        assert server.stop() == 0
    assert sorted(path.name for path in (models / "m").iterdir()) == ["journal-0", "settings.json"]
    assert journal.read_bytes() == damaged


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM")
def test_sigterm_answers_what_was_asked_and_writes_a_snapshot(tmp_path):
    with Server(tmp_path / "models") as server:
        server.client.put(MODEL, json={"learner": "perceptron"})
        for row in ROWS[:4]:
            server.client.post(f"{MODEL}/learn", json=row)
        file = file_of(server.client)
        address = server.address
        assert server.stop() == 0
        assert "Traceback" not in server.log
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)
    assert contents((tmp_path / "models" / "m" / "snapshot-4").read_bytes()) == file


def test_a_folder_is_served_by_one_process(server):
    done = spawn("serve", server.folder, "--port", 0, timeout=60)
    assert done.returncode != 0
    assert "served by another process" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_key_older_than_the_last_snapshot_is_known_after_a_crash(client, crashed):
    client.put(MODEL, json={"learner": "perceptron"})
    key = {"idempotency-key": "old"}
    first = client.post(f"{MODEL}/learn", json=ROWS[:2], headers=key).json()
    client.post(f"{MODEL}/snapshots")
    learned(client, ROWS[2:4])
    client.post(f"{MODEL}/snapshots")
    with crashed() as other:
        assert other.post(f"{MODEL}/learn", json=ROWS[:2], headers=key).json() == first
        assert other.get(f"{MODEL}/metrics").json()["rows"] == 4
        again = other.post(f"{MODEL}/learn", json=ROWS[:3], headers=key)
        assert (again.status_code, again.json()["type"]) == (409, "/problems#other-body")


def test_the_oldest_snapshots_make_room_and_the_rest_can_be_returned_to(client, crashed):
    client.put(MODEL, json={"learner": "perceptron"})
    files = {}
    for row in ROWS[:8]:
        (file,) = learned(client, [row])
        files[client.post(f"{MODEL}/snapshots").json()["snapshot"]] = file
    kept = [one["seq"] for one in client.get(f"{MODEL}/snapshots").json()["snapshots"]]
    assert kept == [4, 5, 6, 7, 8]
    gone = client.post(f"{MODEL}/rollback", json={"snapshot": 2})
    assert (gone.status_code, gone.json()["type"]) == (404, "/problems#no-snapshot")
    for seq in kept:
        with crashed() as other:
            assert other.post(f"{MODEL}/rollback", json={"snapshot": seq}).status_code == 200
            assert file_of(other) == files[seq]


def test_errors_beyond_all_numbers_can_be_stored(tmp_path):
    """JSON has no infinity: a state with one could not be read again."""
    record = Record()
    record.add([float("inf"), float("nan"), 1.0], [0.0, 0.0, 0.0], 1.0, regression=True)
    state = decoded_state(encoded(State(record=record)))
    assert state.record == record
    assert record.error > 1e99
