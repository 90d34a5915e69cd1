"""The words for each end of a run."""

import re
import string
from decimal import Decimal

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.training import stopping
from rosenblatt.training.stopping import Stop

WORDS = {
    name: getattr(stopping, f"{name}_WORDS")
    for name in ("PERCEPTRON", "BATCH", "UNBOUNDED_KERNEL", "LIMITED_KERNEL", "LOSS", "REGRESSION")
}
# What the trainer knows at the end of a run.
FIGURES = {"totals", "epochs", "trials", "mistakes", "loss", "zero_loss", "remedy", "seconds", "patience", "by"}
FIGURES |= {"every", "share", "support", "after", "plane", "beyond", "cycle", "fewer_mistakes", "less_loss", "wrong"}
FIGURES |= {"under", "rows", "objective"}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_every_end_has_words_made_of_figures_that_are_known(words):
    assert words.keys() == set(Stop)
    for text in words.values():
        fields = {field for _, field, _, _ in string.Formatter().parse(text) if field}
        assert fields <= FIGURES | {"proof"}


def test_no_end_advises_to_shuffle():
    assert "shuff" not in str(WORDS) + stopping.CYCLE_PROVED + stopping.CYCLE_COMPUTED


def test_a_figure_falls_if_its_last_third_is_below_the_second():
    assert stopping.falls([3])
    assert stopping.falls([5, 4, 6])  # too few to tell
    assert not stopping.falls([5, 5, 6])  # none was better than the first
    assert stopping.falls(range(30, 0, -1))
    assert not stopping.falls([90, *[5, 4, 6, 5, 5, 4, 6, 5, 5] * 3])
    assert not stopping.falls(range(30))


def test_the_parts_of_a_run_are_named_by_how_they_ended():
    say = {Stop.EPOCHS: "ended", Stop.SEPARATED: "done", Stop.CHUNK: "a chunk"}.get
    stops, noun = (Stop.SEPARATED, Stop.EPOCHS, Stop.SEPARATED), ("class", "classes")
    told = "1 of 3 classes ('b'): ended; 2 of 3 classes ('a' and 'c'): done"
    assert stopping.by_part(stops, "abc", noun, say) == told
    assert stopping.by_part(stops[:1] * 3, "abc", noun, say) == "all 3 classes: done"
    assert stopping.by_part(stops[:1], "", noun, say) == "done"
    assert stopping.by_part((Stop.CHUNK,) * 2, "ab", noun, say) == "a chunk"
    many = stopping.by_part(stops + stops[:1] * 20, range(23), noun, say)
    assert many == "1 of 23 classes (1): ended; 22 of 23 classes (0, 2, 3, 4, 5, 6 and 16 more): done"


def test_only_a_perceptron_speaks_of_separating():
    for name in ("LOSS", "REGRESSION"):
        for stop in (Stop.EPOCHS, Stop.TRAINING, Stop.CHUNK, Stop.SEPARATED):
            assert "separa" not in WORDS[name][stop]
    for stop in (Stop.EPOCHS, Stop.TRAINING, Stop.CHUNK, Stop.SEPARATED):
        assert "mistake" not in WORDS["REGRESSION"][stop]
    for words in WORDS.values():
        assert "in epoch" not in words[Stop.CHUNK]
        assert "separable at all" not in words[Stop.CHUNK]


def test_the_margin_that_none_exceeds_is_not_rounded_down():
    """The share that the sentence has is at least the one that the run has proved."""
    seen = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 6))
        y = (X @ rng.standard_normal(6) + 0.3 * rng.standard_normal(60) > 0).astype(int)
        run = Perceptron(random_state=seed, early_stopping=False, fit_intercept=bool(seed % 2)).fit(X, y).run_
        found = re.search(r"margin above (\S+) of their radius", run.reason)
        if found:
            seen += 1
            assert Decimal(found[1]) >= Decimal(run.ceiling / run.radius)
    assert seen
