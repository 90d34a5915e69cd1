"""The perceptron and its family: fast, scikit-learn compatible, and able to prove what it claims.

Nothing heavy is imported until it is used; `import rosenblatt` itself costs next to nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.association import AssociationUnits as AssociationUnits
    from rosenblatt.certificates import Certificate as Certificate
    from rosenblatt.certificates import verify as verify
    from rosenblatt.cycles import certify_cycle as certify_cycle
    from rosenblatt.estimators import AROW as AROW
    from rosenblatt.estimators import AveragedPerceptron as AveragedPerceptron
    from rosenblatt.estimators import PassiveAggressive as PassiveAggressive
    from rosenblatt.estimators import Perceptron as Perceptron
    from rosenblatt.estimators import PocketPerceptron as PocketPerceptron
    from rosenblatt.estimators import VotedPerceptron as VotedPerceptron
    from rosenblatt.estimators import Winnow as Winnow
    from rosenblatt.files import load as load
    from rosenblatt.files import save as save
    from rosenblatt.kernelized import KernelPerceptron as KernelPerceptron
    from rosenblatt.minimisers import Adaline as Adaline
    from rosenblatt.minimisers import AdalineRegressor as AdalineRegressor
    from rosenblatt.minimisers import MaximumMargin as MaximumMargin
    from rosenblatt.minimisers import SoftMargin as SoftMargin
    from rosenblatt.online import trace as trace
    from rosenblatt.separability import certify as certify
    from rosenblatt.separability import certify_pairs as certify_pairs
    from rosenblatt.theorems import theory as theory
    from rosenblatt.training import train as train

_HOME = {
    "AROW": "estimators",
    "Adaline": "minimisers",
    "AdalineRegressor": "minimisers",
    "AssociationUnits": "association",
    "AveragedPerceptron": "estimators",
    "Certificate": "certificates",
    "KernelPerceptron": "kernelized",
    "MaximumMargin": "minimisers",
    "PassiveAggressive": "estimators",
    "Perceptron": "estimators",
    "PocketPerceptron": "estimators",
    "SoftMargin": "minimisers",
    "VotedPerceptron": "estimators",
    "Winnow": "estimators",
    "certify": "separability",
    "certify_cycle": "cycles",
    "certify_pairs": "separability",
    "load": "files",
    "save": "files",
    "theory": "theorems",
    "trace": "online",
    "train": "training",
    "verify": "certificates",
}

__all__ = [
    "AROW",
    "Adaline",
    "AdalineRegressor",
    "AssociationUnits",
    "AveragedPerceptron",
    "Certificate",
    "KernelPerceptron",
    "MaximumMargin",
    "PassiveAggressive",
    "Perceptron",
    "PocketPerceptron",
    "SoftMargin",
    "VotedPerceptron",
    "Winnow",
    "certify",
    "certify_cycle",
    "certify_pairs",
    "load",
    "save",
    "theory",
    "trace",
    "train",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("rosenblatt")
    if name not in _HOME:
        raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")
    return getattr(import_module(f"rosenblatt.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, "__version__"])
