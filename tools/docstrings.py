"""Check the docstrings of the public names as numpydoc does, but for what pyproject.toml leaves out.

    python -m tools.docstrings

The names are imported: the docstrings of learners are put together from their parameters, so that `numpydoc lint`,
which reads the source, would not see them.
"""

import re
import sys
import tomllib
from pathlib import Path

from numpydoc.validate import get_validation_checks, validate

import rosenblatt


def faults() -> list[str]:
    """Return a line for each fault."""
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["tool"]["numpydoc_validation"]
    checks = get_validation_checks(set(settings["checks"]))
    excluded = re.compile("|".join(settings["exclude"]))
    names = [f"rosenblatt.{name}" for name in rosenblatt.__all__ if not excluded.search(f"rosenblatt.{name}")]
    return [
        f"{name}: {code} {message}" for name in names for code, message in validate(name)["errors"] if code in checks
    ]


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)
