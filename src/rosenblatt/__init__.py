"""The perceptron and its family: fast, scikit-learn compatible, and able to prove what it claims.

Nothing heavy is imported until it is used; `import rosenblatt` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which do not run `__getattr__`
    from rosenblatt.estimators.adaline import Adaline as Adaline
    from rosenblatt.estimators.adaline import AdalineRegressor as AdalineRegressor
    from rosenblatt.estimators.alma import ALMA as ALMA
    from rosenblatt.estimators.arow import AROW as AROW
    from rosenblatt.estimators.association import AssociationUnits as AssociationUnits
    from rosenblatt.estimators.for_river import as_river as as_river
    from rosenblatt.estimators.hashers import TableHasher as TableHasher
    from rosenblatt.estimators.hashers import TextHasher as TextHasher
    from rosenblatt.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from rosenblatt.estimators.maximum_margin import MaximumMargin as MaximumMargin
    from rosenblatt.estimators.onnx import register_onnx as register_onnx
    from rosenblatt.estimators.onnx import to_onnx as to_onnx
    from rosenblatt.estimators.own import learner as learner
    from rosenblatt.estimators.p_norm import PNormPerceptron as PNormPerceptron
    from rosenblatt.estimators.passive_aggressive import PassiveAggressive as PassiveAggressive
    from rosenblatt.estimators.perceptron import AveragedPerceptron as AveragedPerceptron
    from rosenblatt.estimators.perceptron import Perceptron as Perceptron
    from rosenblatt.estimators.pocket import PocketPerceptron as PocketPerceptron
    from rosenblatt.estimators.romma import ROMMA as ROMMA
    from rosenblatt.estimators.saving import load as load
    from rosenblatt.estimators.saving import save as save
    from rosenblatt.estimators.soft_margin import SoftMargin as SoftMargin
    from rosenblatt.estimators.voted import VotedPerceptron as VotedPerceptron
    from rosenblatt.estimators.winnow import Winnow as Winnow
    from rosenblatt.learn.loading import load_linear as load_linear
    from rosenblatt.learn.model import LinearModel as LinearModel
    from rosenblatt.learn.record import record as record
    from rosenblatt.learn.tables import trial_table as trial_table
    from rosenblatt.learn.trace import trace as trace
    from rosenblatt.learn.train import train as train
    from rosenblatt.proof.certificate import Certificate as Certificate
    from rosenblatt.proof.verify import verify as verify
    from rosenblatt.report.report import Report as Report
    from rosenblatt.report.theory import theory as theory
    from rosenblatt.separability.certify import certify as certify
    from rosenblatt.separability.certify import certify_pairs as certify_pairs
    from rosenblatt.separability.cycles import certify_cycle as certify_cycle

# The module of each public name, imported when the name is first used.
_HOME = {
    "ALMA": "estimators.alma",
    "AROW": "estimators.arow",
    "Adaline": "estimators.adaline",
    "AdalineRegressor": "estimators.adaline",
    "AssociationUnits": "estimators.association",
    "AveragedPerceptron": "estimators.perceptron",
    "Certificate": "proof.certificate",
    "KernelPerceptron": "estimators.kernel_perceptron",
    "LinearModel": "learn.model",
    "MaximumMargin": "estimators.maximum_margin",
    "PNormPerceptron": "estimators.p_norm",
    "PassiveAggressive": "estimators.passive_aggressive",
    "Perceptron": "estimators.perceptron",
    "PocketPerceptron": "estimators.pocket",
    "ROMMA": "estimators.romma",
    "Report": "report.report",
    "SoftMargin": "estimators.soft_margin",
    "TableHasher": "estimators.hashers",
    "TextHasher": "estimators.hashers",
    "VotedPerceptron": "estimators.voted",
    "Winnow": "estimators.winnow",
    "as_river": "estimators.for_river",
    "certify": "separability.certify",
    "certify_cycle": "separability.cycles",
    "certify_pairs": "separability.certify",
    "learner": "estimators.own",
    "load": "estimators.saving",
    "load_linear": "learn.loading",
    "record": "learn.record",
    "register_onnx": "estimators.onnx",
    "save": "estimators.saving",
    "theory": "report.theory",
    "to_onnx": "estimators.onnx",
    "trace": "learn.trace",
    "train": "learn.train",
    "trial_table": "learn.tables",
    "verify": "proof.verify",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Imported here: it takes as long as all else that a command needs to print its help.
        from importlib.metadata import version

        return version("rosenblatt")
    if name not in _HOME:
        # Imported here: `import rosenblatt` costs next to nothing.
        from rosenblatt.errors import NotAvailable
        from rosenblatt.words import did_you_mean

        meant = did_you_mean(name, _HOME) or " Its names are in rosenblatt.__all__."
        raise NotAvailable(f"module 'rosenblatt' has no attribute {name!r}.{meant}")
    return getattr(import_module(f"rosenblatt.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, "__version__"])
