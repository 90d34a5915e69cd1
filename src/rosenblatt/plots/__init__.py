"""Pictures, by matplotlib: the lectures' figures, runs, certificates.

Every function draws on the axes that it is passed, or on a new figure, and returns the axes; ``ax.figure.savefig``
writes the picture. Without matplotlib it raises `MissingExtra`.
"""

from rosenblatt.plots.axes import new_figure
from rosenblatt.plots.curves import plot_errors, plot_mistakes
from rosenblatt.plots.plane import plot_boundary, plot_trace
from rosenblatt.plots.proofs import plot_certificate, plot_theory

__all__ = [
    "new_figure",
    "plot_boundary",
    "plot_certificate",
    "plot_errors",
    "plot_mistakes",
    "plot_theory",
    "plot_trace",
]
