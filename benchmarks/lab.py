"""The lab in Chromium: ``python -m benchmarks lab``. Bytes, seconds and memory, against the limits it is built for."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from benchmarks.harness import Bench, Figure, Quantity, Skip, Yield, case

OF_LIMIT = Quantity("share of the limit", "of it", "%", False, lambda ours, theirs: 100 * ours / theirs)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MOST_KB, MOST_SECONDS, MOST_FRAME_SECONDS, MOST_GROWTH_MB = 200.0, 1.0, 0.05, 1.0
STEPS, FRAMES = 2000, 120
SMALL, LARGE = "data=or", "data=clouds&n=500&margin=0.02"
# From the call that shows the next trial to the task after the frame that paints it.
ONE_STEP = """() => new Promise((done) => {
  const lab = document.querySelector("#lab").lab;
  requestAnimationFrame(() => {
    const begin = performance.now();
    lab.go(lab.t + 1 > lab.run.trials ? 0 : lab.t + 1);
    const script = performance.now() - begin;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done([(performance.now() - begin) / 1000, script / 1000]);
      channel.port2.postMessage(0);
    });
  });
})"""
MANY_STEPS = """(steps) => { const lab = document.querySelector("#lab").lab;
  for (let k = 0; k < steps; k++) lab.go((lab.t + 1) % (lab.run.trials + 1)); }"""


@contextmanager
def _served() -> Iterator[str]:
    """Give the address of a lab on this machine."""
    try:
        import uvicorn

        from rosenblatt.lab.server import create_app
    except ImportError as error:
        raise Skip(f"{error.name} is not installed: pip install rosenblatt[lab]") from None
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(create_app("key"), log_level="error", access_log=False, ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/key/"
        server.should_exit = True
        thread.join(10)


@contextmanager
def _browser() -> Iterator[Any]:
    """Give Chromium."""
    path = os.environ.get("ROSENBLATT_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise Skip("no Chromium: install it, or set ROSENBLATT_CHROMIUM")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Skip("playwright is not installed: pip install --group browser") from None
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"]
        chromium = playwright.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()


def _opened(chromium: Any, address: str) -> Any:
    page = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(address)
    page.wait_for_selector("#lab[data-ready=true]", timeout=120_000)
    return page


def _heap(page: Any) -> float:
    """Return the megabytes of the page's heap after a collection."""
    return float(page.evaluate("() => { gc(); gc(); return performance.memory.usedJSHeapSize / 1e6; }"))


@case("the lab in Chromium: first load, a step to the painted frame, memory", alone=True)
def lab(bench: Bench) -> Iterator[Yield]:
    """Open it on four points and on 500, and step."""
    with _served() as address, _browser() as chromium:
        _opened(chromium, f"{address}#{LARGE}")  # compiles
        ready, kilobytes = [], 0.0
        for _ in range(bench.rounds):
            page = _opened(chromium, f"{address}#{SMALL}")
            entries = page.evaluate("performance.getEntries().map((e) => [e.transferSize ?? 0, e.responseEnd ?? 0])")
            kilobytes = sum(size for size, _ in entries) / 1000
            ready.append(max(end for _, end in entries) / 1000)
            page.context.close()
        yield Figure("first load, OR", OF_LIMIT, kilobytes, MOST_KB, unit="kB", peer="limit", target=100)
        yield Figure("ready, OR", OF_LIMIT, median(ready), MOST_SECONDS, peer="limit", target=100)
        page = _opened(chromium, f"{address}#{LARGE}")
        times = [page.evaluate(ONE_STEP) for _ in range(FRAMES)]
        frame, script = (median(column) for column in zip(*times, strict=True))
        limit = MOST_FRAME_SECONDS
        yield Figure("a step to the painted frame, 500 points", OF_LIMIT, frame, limit, peer="limit", target=100)
        yield Figure("of it the script", OF_LIMIT, script, limit, peer="limit", target=100)
        page.evaluate(MANY_STEPS, STEPS)
        before = _heap(page)
        page.evaluate(MANY_STEPS, STEPS)
        growth = max(0.0, _heap(page) - before)
        what = f"growth of the heap in {STEPS} steps"
        yield Figure(what, OF_LIMIT, growth, MOST_GROWTH_MB, unit="MB", peer="limit", target=100)
