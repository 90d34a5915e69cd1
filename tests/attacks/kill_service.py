"""Kill a service that learns, again and again, and compare what it has with an uninterrupted run.

    python -m attacks.kill_service --kills 30 --clients 16

Clients send rows with idempotency keys to three models, and send again what had no answer; the service is killed at
random moments and started on the same port. Snapshots are taken meanwhile. Each answer has the number of its change:
in their order, the library learns the same rows without interruption. Prints the figures; the exit code says whether
a row was lost or learned twice, or a bit differs.
"""

import argparse
import asyncio
import io
import json
import random
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np

import rosenblatt
from rosenblatt.learners import trainable
from served import Server, contents

LEARNERS = {"numbers": "perceptron", "objects": "averaged", "texts": "arow"}
WORDS = ["win", "cash", "lunch", "noon", "call", "prize", "home", "later", "free", "agenda"]


def request_of(kind, seed):
    """One to twenty rows of a kind, and a key."""
    draw = random.Random(seed)
    rows = []
    for _ in range(draw.choice((1, 1, draw.randint(2, 20)))):
        x = [round(draw.gauss(0, 1), 3) for _ in range(20)]
        text = " ".join(draw.choices(WORDS, k=6)) + f" {seed}"
        label = "yes" if x[0] + text.count("win") + draw.gauss(0, 1) > 0.5 else "no"
        row = {"numbers": x, "objects": {"pay": x[0], "city": draw.choice(WORDS), "text": text}, "texts": text}[kind]
        rows.append({"x": row, "y": label})
    return f"{kind}-{seed}", rows


class Attack:
    """Clients of a service, what they still have to send, and the answers that they got."""

    def __init__(self, folder, seed):
        self.folder, self.draw = folder, random.Random(seed)
        self.todo, self.answers, self.sent_again, self.sent = [], {}, 0, 0
        self.server = Server(folder)
        self.port = self.server.port
        for kind, learner in LEARNERS.items():
            self.server.client.put(f"/v1/models/{kind}", json={"learner": learner}).raise_for_status()

    async def client(self):
        """Send requests until there are none, or the service is gone."""
        async with httpx.AsyncClient(base_url=self.server.address, timeout=60) as client:
            while self.todo:
                kind, key, rows = request = self.todo.pop(0)
                try:
                    headers = {"idempotency-key": key}
                    answer = await client.post(f"v1/models/{kind}/learn", json=rows, headers=headers)
                except (httpx.HTTPError, OSError):  # whether it arrived is not known
                    self.todo.insert(0, request)
                    self.sent_again += 1
                    return
                if answer.status_code in (429, 503):
                    self.todo.append(request)
                    continue
                assert answer.status_code == 200, answer.text
                self.answers[key] = answer.json()["seq"], kind, rows
                if self.draw.random() < 0.02:
                    with suppress(httpx.HTTPError, OSError):
                        await client.post(f"v1/models/{kind}/snapshots")

    async def round(self, clients, kill):
        """Let clients send; kill the service at a random moment."""
        tasks = [asyncio.create_task(self.client()) for _ in range(clients)]
        if kill:
            goal = len(self.answers) + self.draw.randint(1, 60)
            while len(self.answers) < goal and not all(task.done() for task in tasks):
                await asyncio.sleep(0.001)
            self.server.process.kill()
        await asyncio.gather(*tasks)

    def run(self, kills, clients):
        """Kill and restart, and let the clients finish."""
        for number in range(kills):
            while len(self.todo) < 200:
                for kind in LEARNERS:
                    self.todo.append((kind, *request_of(kind, self.sent)))
                    self.sent += 1
            asyncio.run(self.round(clients, kill=True))
            self.restart()
            if sys.stderr.isatty():
                print(f"\r{number + 1} kills", end="", file=sys.stderr)
        asyncio.run(self.round(clients, kill=False))

    def restart(self):
        """Start the service again on its port."""
        self.server.kill()
        self.server.close()
        self.server = Server(self.folder, port=self.port)

    def served(self):
        """What each model has learned, and how many rows."""
        found = {}
        for kind in LEARNERS:
            file = self.server.client.get(f"/v1/models/{kind}/file").content
            found[kind] = contents(file), self.server.client.get(f"/v1/models/{kind}/metrics").json()["rows"]
        return found


def uninterrupted(attack, kind):
    """What the library learns from the answered requests, in the order of their changes."""
    answers = sorted(((seq, rows) for seq, own, rows in attack.answers.values() if own == kind), key=lambda one: one[0])
    first, rows = answers[0][1], [row for _, rows in answers for row in rows]
    if kind == "numbers":
        model = trainable()[LEARNERS[kind]]()
        for row in rows:
            model.learn_one(np.array(row["x"]), row["y"])
    else:
        with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
            server.client.put("/v1/models/m", json={"learner": LEARNERS[kind]})
            server.client.post("/v1/models/m/learn", json=first).raise_for_status()
            model = rosenblatt.load(server.client.get("/v1/models/m/file").content)
        for row in rows[len(first) :]:
            model.partial_fit([row["x"]], [row["y"]])
    buffer = io.BytesIO()
    rosenblatt.save(model, buffer)
    return contents(buffer.getvalue()), len(rows)


def attack(folder, kills, clients, seed):
    """Return the figures of an attack."""
    one = Attack(folder, seed)
    try:
        one.run(kills - 1, clients)
        before = one.served()
        one.restart()  # killed once more, with everything answered
        after = one.served()
        figures = {"kills": kills, "clients": clients, "requests": len(one.answers), "sent again": one.sent_again}
        figures |= {"rows": 0, "rows lost": 0, "rows twice": 0, "models that differ": 0}
        for kind in LEARNERS:
            whole, rows = uninterrupted(one, kind)
            numbers = [seq for seq, own, _ in one.answers.values() if own == kind]
            figures["rows"] += rows
            figures["rows lost"] += max(0, rows - after[kind][1])
            figures["rows twice"] += max(0, after[kind][1] - rows) + len(numbers) - len(set(numbers))
            figures["models that differ"] += (before[kind][0] != whole) + (after[kind][0] != whole)
        figures["exit code"] = one.server.stop()
        return figures
    finally:
        one.server.close()


def main():
    """Attack, and print the figures."""
    parser = argparse.ArgumentParser(description="Kill a service that learns, and compare.")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = attack(Path(folder) / "models", options.kills, options.clients, options.seed)
    print(json.dumps(figures))
    sys.exit(any(figures[name] for name in ("rows lost", "rows twice", "models that differ", "exit code")))


if __name__ == "__main__":
    main()
