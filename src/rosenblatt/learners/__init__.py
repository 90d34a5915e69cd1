"""The learners: one file for each algorithm, with its formula, its parameters, its loop, and what others say of it.

`ALL` is computed from these files. The command line, the lab, ONNX, river, model files and the tables of the
documentation are derived from it.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

# Whether learners inherit from scikit-learn's classes. See `rosenblatt.learners.contract`.
SCIKIT_LEARN = True

# A learner is a class whose docstring lists its parameters at the placeholder {parameters}.
_LEARNER = re.compile(r'^class ([A-Z]\w*)\b[^:]*:\n    """(?:(?!""").)*^    \{parameters\}$', re.MULTILINE | re.DOTALL)


@cache
def modules() -> dict[str, str]:
    """Return the module of each learner, read from the sources: importing them all takes a second."""
    found: dict[str, str] = {}
    for module in iter_modules(__path__, f"{__name__}."):
        spec = find_spec(module.name)
        source = spec.loader.get_source(module.name) if spec else ""  # type: ignore[union-attr]
        found |= dict.fromkeys(_LEARNER.findall(source or ""), module.name)
    return dict(sorted(found.items()))


class _Learners(Mapping[str, Any]):
    """The public estimator classes by name; a class is imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return getattr(import_module(modules()[name]), name)

    def __iter__(self) -> Iterator[str]:
        return iter(modules())

    def __len__(self) -> int:
        return len(modules())

    def __contains__(self, name: object) -> bool:
        return name in modules()


ALL: Mapping[str, Any] = _Learners()


def family() -> list[Any]:
    """Return the learners as lists show them: in the order of their publication, and transformers last."""
    known = [cls for cls in ALL.values() if cls.facts is not None]
    return sorted(known, key=lambda cls: (hasattr(cls, "transform"), cls.facts.published, cls.__name__))


@cache
def trainable() -> dict[str, Any]:
    """Return the learners that files can train, by their names for the command line."""
    return {cls.facts.command: cls for cls in family() if cls.facts.command}
