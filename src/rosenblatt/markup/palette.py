"""The colours of the lab, the reports and the plots, for a light background.

The first four class colours differ for readers with any kind of colour vision. Beyond them the shape helps: each of
the first ten classes has a shape of its own.
"""

from __future__ import annotations

# Colours of classes, each with a contrast of at least 3 on white.
CLASSES = (
    "#0072b2",
    "#d55e00",
    "#6b3a12",
    "#85857a",
    "#00875f",
    "#b8458c",
    "#9a7d00",
    "#3b3fa0",
    "#2b93c4",
    "#b03a2e",
)
UPDATE = "#a516e0"  # updates and mistakes
SOLUTIONS = "#009e73"
SOLUTIONS_OPACITY = 0.28
INK, SOFT = "#1c2024", "#5d646c"
PANEL = "#ffffff"
LINE, AXES = "#e3e4e1", "#8b9096"
# A band, a trail, or the space between two bounds.
SKY = "#56b4e9"
