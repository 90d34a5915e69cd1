"""Draw the pictures of docs/how-to/gallery.md: python -m tools.gallery.

Each picture on the page is what the last `ax` or `axes` of the block above it shows.
"""

import io, re, sys, warnings
from pathlib import Path

from PIL import Image  # comes with matplotlib

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "gallery.md"
# Dots per inch of a picture on a page, and of a projector's, whose figures measure fewer inches.
DOTS_PER_INCH = 110
COLOURS = 96


def pictures(text):
    """Yield the code of each block that has a picture, and the picture's path from the page."""
    pattern = r"```python\n((?:(?!```).)*)```\n\n!\[[^\]]*\]\(([^)]+)\)"
    for block, path in re.findall(pattern, text, re.DOTALL):
        yield "\n".join(line[4:] for line in block.splitlines() if line[:4] in (">>> ", "... ")), path


def draw(folder=None):
    """Run the page from top to bottom, and write its pictures beside it, or to a folder; return their paths."""
    found, names = [], {}
    for code, path in pictures(PAGE.read_text()):
        names.pop("ax", None), names.pop("axes", None)
        exec(code, names)
        drawn = names["axes"] if "axes" in names else names["ax"]
        figure = (drawn[0] if hasattr(drawn, "__len__") else drawn).figure
        target = (PAGE.parent / path).resolve() if folder is None else Path(folder) / Path(path).name
        target.parent.mkdir(exist_ok=True)
        # No program or date in the file: the same picture is the same bytes.
        memory = io.BytesIO()
        figure.savefig(memory, dpi=figure.dpi * DOTS_PER_INCH / 144, format="png")
        Image.open(memory).convert("RGB").quantize(COLOURS).save(target, optimize=True)
        found.append(target)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for path in draw(*sys.argv[1:2]):
        print(path)
