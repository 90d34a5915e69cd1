"""From mistakes to new rows: what the mistakes of a first pass promise."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.bounds import average_risk, voted_risk
from rosenblatt.training.plan import Run
from rosenblatt.training.stopping import Stop

ASSUMPTION = "independent rows of one distribution, seen once, in an order that does not depend on them"
SOURCE = "Cesa-Bianchi, Conconi and Gentile (2004), On the generalization ability of on-line learning algorithms"


@dataclass(frozen=True)
class Guarantee:
    """A bound on the error on new rows.

    Attributes
    ----------
    risk : float
        The error is at most this, between 0 and 1; above 1 it says nothing.
    confidence : float
        With this probability over the rows.
    hypothesis : str
        Of which weights it speaks.
    assumption : str
        What must hold of the rows.
    source : str
        Who proved it.
    """

    risk: float
    confidence: float
    hypothesis: str
    assumption: str
    source: str


def guarantees(run: Run, delta: float) -> tuple[Guarantee, ...]:
    """Return what the mistakes of the single pass of a run say about new rows; empty for several problems at once."""
    if len(run.stops) > 1 or run.single_pass is None:
        return ()
    rows, mistakes = run.single_pass
    average, vote = average_risk(mistakes, rows, delta), voted_risk(mistakes, rows, delta)
    passed = "the stream" if run.stop is Stop.CHUNK else "the first pass"
    return (
        Guarantee(average, 1 - delta, f"the hypotheses of {passed}, on average", ASSUMPTION, SOURCE),
        Guarantee(vote, 1 - delta, "their vote, each once per trial", ASSUMPTION, SOURCE),
    )
