"""Pictures, by matplotlib: the lectures' figures, runs, certificates.

Every function draws on the axes that it is passed, or on a new figure, and returns the axes; ``ax.figure.savefig``
writes the picture. ``style="talk"`` is for a projector. Without matplotlib it raises `MissingExtra`.
"""

from rosenblatt.plots.axes import new_figure
from rosenblatt.plots.bars import plot_confusion, plot_largest_weights, plot_margins
from rosenblatt.plots.curves import plot_errors, plot_learning_curve, plot_mistakes, plot_weights
from rosenblatt.plots.losses import plot_losses
from rosenblatt.plots.mapped import plot_mapped
from rosenblatt.plots.plane import plot_boundary, plot_trace
from rosenblatt.plots.proofs import plot_certificate, plot_theory
from rosenblatt.plots.spaces import plot_spaces, plot_update

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
