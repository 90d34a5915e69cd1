"""Pictures, by matplotlib: the lectures' figures, runs, certificates."""

from rosenblatt.plots.plane import (
    new_figure,
    plot_boundary,
    plot_certificate,
    plot_errors,
    plot_mistakes,
    plot_theory,
    plot_trace,
)

__all__ = [
    "new_figure",
    "plot_boundary",
    "plot_certificate",
    "plot_errors",
    "plot_mistakes",
    "plot_theory",
    "plot_trace",
]
