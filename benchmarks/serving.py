"""The service under load: ``python -m benchmarks serving``. Requests per second and latencies, beside no journal."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Figure, Quantity, Skip, Table, Yield, case

FEATURES, SECONDS, SLICES = 54, 2, 8
REQUESTS = Quantity(
    "requests per second, as a multiple of the peer's", "the requests", "x", True, lambda ours, theirs: ours / theirs
)
# The command with a journal that keeps nothing: what durability costs is the difference.
NO_JOURNAL = """
import sys
from rosenblatt.cli.main import commands
from rosenblatt.serving.store import Store
Store.append = lambda self, lines: None
commands(sys.argv[1:])
"""
BARE = """
import socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def constant(request):
    await request.body()
    return Response(b'{"seq":1,"predictions":[{"y":1}]}', media_type="application/json")
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(2048)
print(f"at http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
app = Starlette(routes=[Route("/v1/models/m/predict", constant, methods=["POST"])])
uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, ws="none")).run(sockets=[listening])
"""
# What wrk sends, and what it prints at the end.
LOAD = """
wrk.method, wrk.headers["content-type"], wrk.body = "POST", "application/json", [==[%s]==]
done = function(summary, latency)
  local errors = summary.errors.status + summary.errors.read + summary.errors.timeout
  local half, most = latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
  print("FOUND", summary.requests / summary.duration * 1e6, half, most, errors)
end
"""


@contextmanager
def _served(*words: str) -> Iterator[str]:
    """Give the address of a server in a process of its own."""
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://[\d.:]+/", process.stdout.readline())
        if found is None:
            raise Skip('the service did not start: pip install "rosenblatt[serve]"')
        yield found[0]
    finally:
        process.terminate()
        process.wait()


def _asked(address: str, body: Any) -> None:
    """Send one request; raise an error if it is refused."""
    from urllib.request import Request, urlopen

    method = "PUT" if address.endswith("/m") else "POST"
    with urlopen(Request(address, json.dumps(body).encode(), {"content-type": "application/json"}, method=method)):
        pass


def _load(address: str, body: Any, connections: int) -> tuple[float, float, float]:
    """Let wrk send requests; return how many a second, and the median and the 99th percentile in milliseconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(LOAD % json.dumps(body))
        script.flush()
        words = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}", "-s", script.name, address]
        printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    rate, half, most, errors = printed.partition("FOUND")[2].split()
    if errors != "0":
        raise RuntimeError(f"{address} refused {errors} requests.")
    return float(rate), float(half), float(most)


@case("the service on loopback: learn with and without a journal, predict beside a constant answer", alone=True)
def serving(bench: Bench) -> Iterator[Yield]:
    """Servers take turns, slice by slice; a figure is the ratio of their medians."""
    if shutil.which("wrk") is None:
        raise Skip("wrk is not installed: apt install wrk")
    random = np.random.default_rng(0)
    X = random.normal(size=(100, FEATURES)).round(4)
    rows = [{"x": x.tolist(), "y": int(x[0] > 0)} for x in X]
    bodies = {"learn": rows, "predict": [{"x": row["x"]} for row in rows]}
    slices = 2 if bench.quick else SLICES
    yield f"load average {os.getloadavg()[0]:.1f}, {slices} slices of {SECONDS} s for each line and server"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        serve = ("serve", "--port", "0")
        servers = {
            "journal": stack.enter_context(_served("-m", "rosenblatt", *serve, str(folder / "a"))),
            "none": stack.enter_context(_served("-c", NO_JOURNAL, *serve, str(folder / "b"))),
            "constant": stack.enter_context(_served("-c", BARE)),
        }
        for name in ("journal", "none"):
            _asked(f"{servers[name]}v1/models/m", {"learner": "perceptron"})
            _asked(f"{servers[name]}v1/models/m/learn", rows)
        table = []
        for what, peer in (("learn", "none"), ("predict", "constant")):
            for size in (1, 100):
                for connections in (1, 32):
                    body = bodies[what][0] if size == 1 else bodies[what]
                    found: dict[str, list[tuple[float, float, float]]] = {"journal": [], peer: []}
                    for _ in range(slices):
                        for name, own in found.items():
                            own.append(_load(f"{servers[name]}v1/models/m/{what}", body, connections))
                    middle = {name: [median(one) for one in zip(*own, strict=True)] for name, own in found.items()}
                    line = f"{what}, rows: {size}, connections: {connections}"
                    other = "no journal" if peer == "none" else "a constant answer"
                    for name, (rate, half, most) in middle.items():
                        shown = "the service" if name == "journal" else other
                        table.append((line, shown, f"{rate:,.0f}", f"{half:.2f}", f"{most:.2f}"))
                    target = 0.7 if what == "learn" and connections == 32 else None
                    ours, theirs = middle["journal"][0], middle[peer][0]
                    yield Figure(line, REQUESTS, ours, theirs, unit="requests/s", peer=other, target=target)
        yield Table(("what", "server", "requests/s", "p50 ms", "p99 ms"), table)
