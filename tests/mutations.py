"""Bytes with a few random changes."""

import numpy as np


def mutations(content, tries, seed, alphabet=None):
    """Give copies of some bytes with a few random changes each."""
    random = np.random.default_rng(seed)
    letters = np.frombuffer(alphabet or bytes(range(256)), np.uint8)
    for _ in range(tries):
        changed = bytearray(content)
        for _ in range(random.integers(1, 4)):
            place = int(random.integers(0, len(changed) + 1))
            new = random.choice(letters, random.integers(0, 4)).tobytes()
            changed[place : place + int(random.integers(0, 4))] = new
        if random.random() < 0.1:
            del changed[random.integers(0, len(changed) + 1) :]
        yield bytes(changed)
