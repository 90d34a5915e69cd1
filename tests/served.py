"""A service in a process of its own, which tests and attacks may kill and start again."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx


class Server:
    """`rosenblatt serve` on a folder of models.

    Parameters
    ----------
    folder : path
    options : words of the command line
    port : int
        0: any free one.

    Attributes
    ----------
    client : httpx.Client
        Asks the service.
    """

    def __init__(self, folder, *options, port=0):
        self.folder = Path(folder)
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        words = [sys.executable, "-m", "rosenblatt", "serve", str(folder), "--port", str(port), *map(str, options)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        line = self.process.stdout.readline()
        assert " at http" in line, self.log
        self.address = line.split(" at ")[1].strip()
        self.port = int(self.address.rstrip("/").rpartition(":")[2])
        self.client = httpx.Client(base_url=self.address, timeout=60)

    @property
    def log(self):
        """What the service wrote to its standard error."""
        self._errors.seek(0)
        return self._errors.read()

    def kill(self):
        """End the process without a farewell."""
        self.client.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """Ask the process to end; return its exit code."""
        self.client.close()
        self.process.terminate()
        code = self.process.wait(60)
        self.process.stdout.close()
        return code

    def __enter__(self):
        return self

    def close(self):
        """End the process, if it has not ended, and forget what it wrote."""
        if self.process.poll() is None:
            self.stop()
        self._errors.close()

    def __exit__(self, *error):
        self.close()


# What a model file tells of the calls that taught it: a service that was started again has made others.
RECORDS = {"seconds", "run_", "n_iter_", "stop_reason_", "training"}


def contents(file):
    """All that a model file has learned, to the bit."""
    size = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:size])
    about = json.loads(header.pop("__metadata__")["model"])
    return _without_records(about), header, file[size:]


def _without_records(value):
    if isinstance(value, dict):
        return {name: _without_records(one) for name, one in value.items() if name not in RECORDS}
    if isinstance(value, list):
        return [_without_records(one) for one in value if not (isinstance(one, list) and one[:1] == ["training"])]
    return value
