"""The perceptron and its family: fast, scikit-learn compatible, and able to prove what it claims.

Nothing heavy is imported until it is used; `import rosenblatt` itself costs next to nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.estimators.adaline import Adaline as Adaline
    from rosenblatt.estimators.adaline import AdalineRegressor as AdalineRegressor
    from rosenblatt.estimators.adaline import MaximumMargin as MaximumMargin
    from rosenblatt.estimators.adaline import SoftMargin as SoftMargin
    from rosenblatt.estimators.association import AssociationUnits as AssociationUnits
    from rosenblatt.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from rosenblatt.estimators.perceptron import AROW as AROW
    from rosenblatt.estimators.perceptron import AveragedPerceptron as AveragedPerceptron
    from rosenblatt.estimators.perceptron import PassiveAggressive as PassiveAggressive
    from rosenblatt.estimators.perceptron import Perceptron as Perceptron
    from rosenblatt.estimators.perceptron import PocketPerceptron as PocketPerceptron
    from rosenblatt.estimators.perceptron import VotedPerceptron as VotedPerceptron
    from rosenblatt.estimators.perceptron import Winnow as Winnow
    from rosenblatt.estimators.saving import load as load
    from rosenblatt.estimators.saving import save as save
    from rosenblatt.learn.trace import trace as trace
    from rosenblatt.learn.trainer import train as train
    from rosenblatt.proof.certificate import Certificate as Certificate
    from rosenblatt.proof.verify import verify as verify
    from rosenblatt.report.theory import theory as theory
    from rosenblatt.separability.certify import certify as certify
    from rosenblatt.separability.certify import certify_pairs as certify_pairs
    from rosenblatt.separability.cycles import certify_cycle as certify_cycle

_HOME = {
    "AROW": "estimators.perceptron",
    "Adaline": "estimators.adaline",
    "AdalineRegressor": "estimators.adaline",
    "AssociationUnits": "estimators.association",
    "AveragedPerceptron": "estimators.perceptron",
    "Certificate": "proof.certificate",
    "KernelPerceptron": "estimators.kernel_perceptron",
    "MaximumMargin": "estimators.adaline",
    "PassiveAggressive": "estimators.perceptron",
    "Perceptron": "estimators.perceptron",
    "PocketPerceptron": "estimators.perceptron",
    "SoftMargin": "estimators.adaline",
    "VotedPerceptron": "estimators.perceptron",
    "Winnow": "estimators.perceptron",
    "certify": "separability.certify",
    "certify_cycle": "separability.cycles",
    "certify_pairs": "separability.certify",
    "load": "estimators.saving",
    "save": "estimators.saving",
    "theory": "report.theory",
    "trace": "learn.trace",
    "train": "learn.trainer",
    "verify": "proof.verify",
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
