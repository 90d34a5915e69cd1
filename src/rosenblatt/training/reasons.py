"""Why a run ended, as a sentence for the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.text import count, listed, rounded_up
from rosenblatt.training.stopping import Stop

if TYPE_CHECKING:
    from rosenblatt.training.algorithm import Algorithm
    from rosenblatt.training.trainer import Trainer

# Templates of the reason for each end, by the kind of training. `totals` is empty unless there is a single problem,
# `proof` unless the run has proved a bound on the margin. `beyond` is advice for rows that no hyperplane separates,
# without remedies that the run has already tried. An epoch without an update is about the last weights and the rows
# that were learned from: `under` and `rows` say so if others predict (an average, a vote, the weights of an earlier
# epoch), or if rows were held out or have no weight.
Words = dict[Stop, str]

_SHARED: Words = {
    Stop.SECONDS: Stop.SECONDS.value + " ({seconds} s, in epoch {epochs}): allow more of it, or take fewer rows",
    Stop.VALIDATION: Stop.VALIDATION.value + ": {patience} in a row did not lower it{by}",
    Stop.DIVERGED: Stop.DIVERGED.value + " ({loss:.3g} in epoch {epochs}, against {zero_loss:.3g}): {remedy}",
    Stop.CALLBACK: Stop.CALLBACK.value + ", after epoch {epochs}",
    Stop.CYCLE: "{cycle}; {beyond}",
    Stop.INSEPARABLE: Stop.INSEPARABLE.value + ", as {support} of the rows prove (after {after}); {beyond}",
    Stop.CHUNK: Stop.CHUNK.value + " (rows: {trials}, mistakes: {mistakes}): the stream can continue",
}
PERCEPTRON = _SHARED | {
    Stop.SEPARATED: "{under}{rows} is on its side: an epoch passed without an update{totals}",
    Stop.EPOCHS: Stop.EPOCHS.value + " ({mistakes} in epoch {epochs}){fewer_mistakes}",
    Stop.TRAINING: Stop.TRAINING.value + ": {patience} in a row did not lower the mean loss{by}{proof}",
}
BATCH = PERCEPTRON | {
    Stop.SEPARATED: "{under}{rows} is on its side: no row was left to correct{totals}",
    Stop.EPOCHS: "the last allowed epoch was over, with {wrong} still misclassified{fewer_mistakes}",
    Stop.TRAINING: Stop.TRAINING.value
    + ": {patience} in a row did not lower the share of misclassified rows{by}{proof}",
}
UNBOUNDED_KERNEL = PERCEPTRON | {
    Stop.TRAINING: "no progress in {patience} in a row: the mean loss did not fall{by}, or the mistakes are so many "
    "that a separator would promise nothing of new rows{proof}; if the rows are noisy, margin=4 and max_updates=8 may "
    "help",
}
AT_REST = (
    "an epoch passed without an update, but not without mistakes: they are of rows that the rule does not move the "
    "weights for, and more epochs would change nothing"
)
LIMITED_KERNEL = PERCEPTRON | {
    Stop.TRAINING: "no update was left to make: every row has its margin, or has been updated as often as a row may be",
}
LOSS = _SHARED | {
    Stop.SEPARATED: "{under}{rows} has the required margin: an epoch passed without an update{totals}",
    Stop.EPOCHS: "the last allowed epoch was over, with a mean loss of {loss:.3g} in it{less_loss}",
    Stop.TRAINING: "{objective} stopped falling: {patience} in a row did not lower it{by}",
}
REGRESSION = LOSS | {
    Stop.SEPARATED: "{under}the target of {rows} is met exactly: an epoch passed without an update{totals}",
    Stop.CHUNK: Stop.CHUNK.value + " (rows: {trials}, mean loss: {loss:.3g}): the stream can continue",
}


def words_for(algorithm: Algorithm, *, regression: bool = False, batch: bool = False) -> Words:
    """Return the templates for training an algorithm."""
    if regression:
        return REGRESSION
    if not algorithm.finite_updates:
        return LOSS
    return BATCH if batch else PERCEPTRON


# A figure still falls if its mean over the last third of the epochs is at most this share of that over the second
# third; of fewer epochs, if that of the last is at most this share of the one before.
FALL, LEAST_EPOCHS = 0.95, 10
# Margins below this share of the radius are rounding.
LEAST_SHARE = 1e-9
CYCLE_PROVED = (
    "no {plane} separates the rows: the weights came back to where they had been, so that the updates in between "
    "add up to zero and the run repeats itself, {every}"
)
CYCLE_COMPUTED = (
    "the weights came back to where they had been, and the run repeats itself, {every}: as computed, no {plane} "
    "separates the rows, and certify decides it without rounding"
)


def falls(figures: Sequence[float]) -> bool:
    """Return whether a figure fell until the last epoch; True if there is one epoch, which does not say."""
    third = len(figures) // 3 if len(figures) >= LEAST_EPOCHS else 1
    return len(figures) < 2 or sum(figures[-third:]) <= FALL * sum(figures[-2 * third : -third])


def outlook(mistakes: Sequence[int], losses: Sequence[float], beyond: str, *, past_best: bool) -> dict[str, str]:
    """Return what to expect from more epochs, judging by mistakes and by losses.

    `past_best`: an earlier epoch had the fewest errors, so that more epochs are no remedy, whatever falls.
    """
    in_vain = "more epochs will hardly help"
    if past_best:
        return dict.fromkeys(("fewer_mistakes", "less_loss"), f", and an earlier one had fewer errors: {in_vain}")
    return {
        "fewer_mistakes": ": allow more epochs" if falls(mistakes) else f", and no longer fewer: {in_vain}; {beyond}",
        "less_loss": ": allow more epochs" if falls(losses) else f", and it no longer falls: {in_vain}",
    }


def by_part(
    stops: tuple[Stop, ...], names: Sequence[Any], noun: tuple[str, str], sentence: Callable[[Stop], str]
) -> str:
    """Return how the parts of a run ended, with the names of the parts for each end.

    Parameters
    ----------
    stops : tuple of Stop
        How each part ended.
    names : sequence
        Names of the parts; empty if they have none.
    noun : (str, str)
        Noun for one part and for several.
    sentence : callable
        Returns the reason for an end.

    Returns
    -------
    str
        Without a full stop.
    """
    ways = [stop for stop in Stop if stop in stops]
    if len(stops) == 1 or ways == [Stop.CHUNK]:
        return sentence(ways[0])
    if len(ways) == 1:
        return f"all {count(len(stops), *noun)}: {sentence(ways[0])}"
    parts = []
    for way in ways:
        ended = [number for number, stop in enumerate(stops) if stop is way]
        called = f" ({listed(names[number] for number in ended)})" if names else ""
        parts.append(f"{len(ended)} of {count(len(stops), *noun)}{called}: {sentence(way)}")
    return "; ".join(parts)


def reason(run: Trainer, stops: tuple[Stop, ...], bounds: Sequence[float]) -> str:
    """Return why a run ended, as a sentence with its figures.

    Parameters
    ----------
    stops : tuple of Stop
        How each part ended.
    bounds : sequence of float
        Upper bound on the margin of any separator of each part, as the run has proved.
    """
    runner = run.runner

    def sentence(stop: Stop) -> str:
        ended = [part for part, end in enumerate(stops) if end is stop]
        at_rest = stop is Stop.TRAINING and set(ended) <= set(run.rules.at_rest) and runner.words is not LIMITED_KERNEL
        words = AT_REST if at_rest else runner.words[stop]
        return _sentence(run, stop, max(bounds[part] for part in ended), words)

    reason = by_part(stops, runner.names, runner.noun, sentence)
    if run.kept < len(run.mistakes) or (run.best is not None and set(stops) != {Stop.SEPARATED}):
        reason += f"; the weights of epoch {run.kept} are kept, the best of {len(run.mistakes)}"
    return reason + (_prediction(run) if set(stops) == {Stop.SEPARATED} else "") + "."


def _prediction(run: Trainer) -> str:
    """Return how the predictor does on the rows, if it is not the weights that have every row on its side."""
    what = run.runner.predictor or "the kept weights" * (run.kept < len(run.mistakes))
    if not what:
        return ""
    wrong = run.runner.misses()
    if wrong is None:
        return f"; {what}, by which the model predicts, may err on some of them"
    return f"; {what}, by which the model predicts, {f'errs on {wrong}' if wrong else 'errs on none'} of them"


def _sentence(run: Trainer, stop: Stop, bound: float, words: str) -> str:
    epochs, certificate = len(run.mistakes), run.runner.certificate
    share = bound / (run.runner.radius or 1.0)
    above = f" with a margin above {rounded_up(share, 2)} of their radius"
    figures = {
        "totals": f" ({count(run.updates, 'update')} in {count(epochs, 'epoch')})" * (run.runner.parts == 1),
        "under": "under the last weights, " * bool(run.runner.predictor or run.kept < epochs),
        "rows": "every row that was learned from" if run.runner.leaves_out else "every row",
        "objective": "the mean loss with its penalty" if run.runner.penalised else "the mean loss",
        "epochs": epochs,
        "after": count(epochs, "epoch"),
        "trials": run.trials,
        "mistakes": run.mistakes[-1],
        "wrong": count(run.mistakes[-1], "row"),
        "loss": run.losses[-1],
        "zero_loss": run.runner.zero_loss,
        "remedy": run.runner.remedy,
        "seconds": run.plan.max_seconds,
        "patience": count(run.plan.n_iter_no_change, "epoch"),
        "by": f" by {run.plan.tol:g}" if run.plan.tol else "",
        "beyond": run.runner.beyond,
        "every": "every epoch" if run.rules.cycle == 1 else f"every {run.rules.cycle} epochs",
        "plane": run.runner.plane,
        "share": above if share > LEAST_SHARE else ", as computed",
        "support": 0 if certificate is None else len(certificate.support),
    }
    figures |= outlook(run.mistakes, run.losses, run.runner.beyond, past_best=run.kept < epochs)
    if stop is Stop.CYCLE:
        figures["cycle"] = (CYCLE_PROVED if run.runner.cycle_proves() else CYCLE_COMPUTED).format(**figures)
    figures["proof"] = run.runner.proof.format(**figures) if np.isfinite(share) else ""
    return words.format(**figures)
