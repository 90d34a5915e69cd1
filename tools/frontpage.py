"""Draw the pictures of the README and of the site's first page: python -m tools.frontpage.

One shows a perceptron that learns two species of iris, update by update; the others are three of the claims as bars.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from rosenblatt import Perceptron, record
from rosenblatt.markup.charts import FONT, ticks
from rosenblatt.markup.elements import Markup, tag
from rosenblatt.markup.geometry import clip
from rosenblatt.markup.palette import CLASSES, UPDATE
from tools.claims import amount, claims

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SECONDS_PER_UPDATE, SECONDS_AT_THE_END = 0.7, 4.0
WIDTH, HEIGHT = 780, 370
LEFT, RIGHT, TOP, BOTTOM = 50, 490, 20, 320  # the square of points
BESIDE = 515  # where the words begin
CHARTS = {"mnist", "certify_large", "units"}  # the claims that are drawn
BAR = 210  # its length when all flowers are on the wrong side

# A picture in a README follows the reader's system: light or dark, with motion or without.
LOOK = """
.paper { fill: #fff } text { fill: #1c2024 } .soft { fill: #5d646c } .axis { stroke: #8b9096 } .line { stroke: #1c2024 }
.frame { visibility: hidden; animation: frame %(whole).1fs step-end infinite }
.last { animation-name: last }
@keyframes frame { 0%% { visibility: visible } %(frame).3f%% { visibility: hidden } }
@keyframes last { 0%% { visibility: visible } %(last).3f%% { visibility: hidden } }
@media (prefers-color-scheme: dark) {
  .paper { fill: #131416 } text { fill: #e2e2e2 } .soft { fill: #9a9a9a } .line { stroke: #e2e2e2 }
}
@media (prefers-reduced-motion: reduce) { .frame { animation: none } .last { visibility: visible } }
"""


def learning():
    """Return the animation: the flowers, and for each update the line and the flower that moved it."""
    flowers = load_iris()
    rows = flowers.target < 2
    X, y = flowers.data[rows, :2], flowers.target[rows]
    X += np.random.default_rng(0).uniform(-0.03, 0.03, X.shape)  # flowers of equal size would hide one another
    centre = X.mean(axis=0)
    updates = [trial for trial in record(Perceptron(shuffle=False), X - centre, y).trials() if trial.update]
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2

    def place(points):
        across, up = ((np.asarray(points) - low) / (high - low)).T
        return np.column_stack([LEFT + (RIGHT - LEFT) * across, BOTTOM - (BOTTOM - TOP) * up])

    def polygon(normal, constant, **look):
        corners = clip(np.array([low, (high[0], low[1]), high, (low[0], high[1])]), normal, constant)
        return tag("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in place(corners)), **look)

    frames = []
    whole = SECONDS_PER_UPDATE * (len(updates) - 1) + SECONDS_AT_THE_END
    for k, trial in enumerate(updates):
        constant = trial.b - trial.w @ centre
        wrong = int(np.sum((X @ trial.w + constant > 0) != (y == 1)))
        (x, up), last = place(X[[trial.row]])[0], k == len(updates) - 1
        frames.append(
            tag(
                "g",
                polygon(-trial.w, -constant, fill=CLASSES[0], fill_opacity=0.16, class_="line", stroke_width=1.5),
                polygon(trial.w, constant, fill=CLASSES[1], fill_opacity=0.16, class_="line", stroke_width=1.5),
                tag("circle", cx=x, cy=up, r=9, fill="none", stroke=UPDATE, stroke_width=2.5),
                words(f"Correction {k + 1}", BESIDE, 200, font_size=20, font_weight=600),
                words(f"{wrong} of {len(y)} flowers on the wrong side", BESIDE, 226),
                tag("rect", x=BESIDE, y=238, width=max(2, BAR * wrong / len(y)), height=10, fill=UPDATE),
                words("Done: it stops by itself." if last else "", BESIDE, 276, font_weight=600),
                class_="frame last" if last else "frame",
                style=f"animation-delay: {k * SECONDS_PER_UPDATE:.1f}s",
            )
        )
    look = LOOK % {
        "whole": whole,
        "frame": 100 * SECONDS_PER_UPDATE / whole,
        "last": 100 * SECONDS_AT_THE_END / whole,
    }
    points = [tag("circle", cx=x, cy=up, r=4, fill=CLASSES[k]) for (x, up), k in zip(place(X), y, strict=True)]
    return picture(
        (WIDTH, HEIGHT),
        f"A perceptron separates two species of iris after {len(updates)} corrections.",
        tag("style", Markup(look)),
        tag("rect", width=WIDTH, height=HEIGHT, rx=10, class_="paper"),
        *frames,
        *points,
        *axes(low, high, place),
        words("A perceptron at work", BESIDE, 40, font_weight=600),
        words("It looks at one flower at a time.", BESIDE, 68, class_="soft"),
        words("If the flower is on the wrong side,", BESIDE, 88, class_="soft"),
        words("it moves the line.", BESIDE, 108, class_="soft"),
        *(item for k in (0, 1) for item in legend(str(flowers.target_names[k]), CLASSES[k], 140 + 20 * k)),
    )


def axes(low, high, place):
    """Yield the marks and the names of both axes."""
    for value in ticks(low[0], high[0]):
        yield words(f"{value:g}", place([(value, low[1])])[0][0], BOTTOM + 18, text_anchor="middle", class_="soft")
    for value in ticks(low[1], high[1]):
        yield words(f"{value:g}", LEFT - 8, place([(low[0], value)])[0][1] + 4, text_anchor="end", class_="soft")
    yield words("length of the sepal, cm", (LEFT + RIGHT) / 2, BOTTOM + 38, text_anchor="middle", class_="soft")
    middle = (TOP + BOTTOM) / 2
    turned = {"transform": f"rotate(-90 16 {middle})", "text_anchor": "middle"}
    yield words("width, cm", 16, middle, class_="soft", **turned)


def legend(name, colour, y):
    """Yield the mark and the name of a class."""
    yield tag("circle", cx=BESIDE + 6, cy=y - 4, r=4, fill=colour)
    yield words(name, BESIDE + 18, y)


def bars(claim):
    """Return a claim as two bars, ours first. Words have the colour of the page around them."""
    parts = []
    pairs = (("rosenblatt", claim.ours, CLASSES[4]), (claim.peer, claim.theirs, "#8b9096"))
    for y, (name, value, colour) in zip((0, 44), pairs, strict=True):
        length = 200 * value / max(claim.ours, claim.theirs)
        parts += [
            words(name, 0, y + 13),
            tag("rect", x=0, y=y + 19, width=length, height=14, fill=colour),
            words(amount(value, claim.unit), length + 8, y + 31, font_weight=600),
        ]
    return picture((290, 84), claim.work, *parts)


def words(text, x, y, **look):
    """Return a line of text."""
    return tag("text", text, x=x, y=y, **({"fill": "currentColor"} | look))


def picture(size, title, *content):
    """Return an SVG picture with a title for screen readers."""
    box = {"viewBox": f"0 0 {size[0]} {size[1]}", "width": size[0], "height": size[1], "font_family": FONT}
    return tag("svg", *content, xmlns="http://www.w3.org/2000/svg", font_size=14, role="img", aria_label=title, **box)


def draw(folder=FOLDER):
    """Write all pictures to a folder; return their paths."""
    made = {"learning": learning()} | {
        f"claim-{one.benchmark}": bars(one) for one in claims() if one.benchmark in CHARTS
    }
    paths = [Path(folder) / f"{name}.svg" for name in made]
    for path, content in zip(paths, made.values(), strict=True):
        path.write_text(f"{content}\n", encoding="utf-8")
    return paths


if __name__ == "__main__":
    for path in draw(*sys.argv[1:2]):
        print(path)
