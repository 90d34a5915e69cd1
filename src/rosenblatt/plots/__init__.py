"""Plots with matplotlib: the figures of the lectures, runs, models and proofs.

Each function draws on the axes passed to it, or on a new figure, and returns the axes; ``ax.figure.savefig`` writes a
file. ``style="talk"`` is for a projector. Without matplotlib they raise `MissingExtra`.
"""

from rosenblatt.plots.axes import new_figure
from rosenblatt.plots.bars import plot_confusion, plot_largest_weights, plot_margins
from rosenblatt.plots.curves import plot_errors, plot_learning_curve, plot_mistakes, plot_weights
from rosenblatt.plots.plane import plot_boundary, plot_mapped, plot_trace
from rosenblatt.plots.proofs import plot_certificate, plot_theory
from rosenblatt.plots.spaces import plot_losses, plot_spaces, plot_update

__all__ = [
    "new_figure",
    "plot_boundary",
    "plot_certificate",
    "plot_confusion",
    "plot_errors",
    "plot_largest_weights",
    "plot_learning_curve",
    "plot_losses",
    "plot_mapped",
    "plot_margins",
    "plot_mistakes",
    "plot_spaces",
    "plot_theory",
    "plot_trace",
    "plot_update",
    "plot_weights",
]
