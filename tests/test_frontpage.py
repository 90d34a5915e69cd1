"""The pictures of the README and of the site's first page are drawn by a command, and show what was measured."""

import re
from pathlib import Path
from xml.etree import ElementTree

from tools import frontpage
from tools.claims import amount, claims

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"


def test_the_pictures_are_what_the_command_draws(tmp_path):
    for path in frontpage.draw(tmp_path):
        assert path.read_text() == (FOLDER / path.name).read_text(), "draw again: python -m tools.frontpage"


def test_the_animation_ends_when_no_flower_is_on_the_wrong_side():
    wrong = [int(count) for count in re.findall(r"(\d+) of 100 flowers", (FOLDER / "learning.svg").read_text())]
    assert wrong.count(0) == 1
    assert wrong[-1] == 0


def test_bars_are_as_long_as_what_they_show():
    drawn = [claim for claim in claims() if claim.benchmark in frontpage.CHARTS]
    assert len(drawn) == 3
    for claim in drawn:
        picture = ElementTree.parse(FOLDER / f"claim-{claim.benchmark}.svg").getroot()
        ours, theirs = (float(bar.get("width")) for bar in picture if bar.tag.endswith("rect"))
        assert abs(ours / theirs - claim.ours / claim.theirs) < 0.02
        assert amount(claim.theirs, claim.unit) in "".join(picture.itertext())
