"""The perceptron and its family: fast, scikit-learn compatible, and able to prove what it claims.

Nothing heavy is imported until it is used; `import rosenblatt` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which do not run `__getattr__`
    from rosenblatt.learners.adaline import Adaline as Adaline
    from rosenblatt.learners.adaline import AdalineRegressor as AdalineRegressor
    from rosenblatt.learners.alma import ALMA as ALMA
    from rosenblatt.learners.arow import AROW as AROW
    from rosenblatt.learners.association import AssociationUnits as AssociationUnits
    from rosenblatt.learners.file_model import FileModel as FileModel
    from rosenblatt.learners.for_river import as_river as as_river
    from rosenblatt.learners.hashers import TableHasher as TableHasher
    from rosenblatt.learners.hashers import TextHasher as TextHasher
    from rosenblatt.learners.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from rosenblatt.learners.maximum_margin import MaximumMargin as MaximumMargin
    from rosenblatt.learners.onnx import register_onnx as register_onnx
    from rosenblatt.learners.onnx import to_onnx as to_onnx
    from rosenblatt.learners.own import learner as learner
    from rosenblatt.learners.p_norm import PNormPerceptron as PNormPerceptron
    from rosenblatt.learners.passive_aggressive import PassiveAggressive as PassiveAggressive
    from rosenblatt.learners.passive_aggressive import PassiveAggressiveRegressor as PassiveAggressiveRegressor
    from rosenblatt.learners.perceptron import AveragedPerceptron as AveragedPerceptron
    from rosenblatt.learners.perceptron import Perceptron as Perceptron
    from rosenblatt.learners.pocket import PocketPerceptron as PocketPerceptron
    from rosenblatt.learners.romma import ROMMA as ROMMA
    from rosenblatt.learners.saving import load as load
    from rosenblatt.learners.saving import save as save
    from rosenblatt.learners.soft_margin import SoftMargin as SoftMargin
    from rosenblatt.learners.voted_perceptron import VotedPerceptron as VotedPerceptron
    from rosenblatt.learners.winnow import Winnow as Winnow
    from rosenblatt.prover.certificates.certificate import Certificate as Certificate
    from rosenblatt.prover.certificates.verify import verify as verify
    from rosenblatt.prover.search.certify import certify as certify
    from rosenblatt.prover.search.certify import certify_pairs as certify_pairs
    from rosenblatt.prover.search.cycles import certify_cycle as certify_cycle
    from rosenblatt.regression.diagnosis import diagnose as diagnose
    from rosenblatt.regression.diagnosis import is_separated as is_separated
    from rosenblatt.regression.fits import firth as firth
    from rosenblatt.report.report import Report as Report
    from rosenblatt.report.theory import theory as theory
    from rosenblatt.training.model import LinearModel as LinearModel
    from rosenblatt.training.model import load_linear as load_linear
    from rosenblatt.training.record import record as record
    from rosenblatt.training.tables import trial_table as trial_table
    from rosenblatt.training.trace import trace as trace
    from rosenblatt.training.train import train as train

# The module of each public function and class that is not a learner, imported when the name is first used.
_HOME = {
    "Certificate": "prover.certificates.certificate",
    "FileModel": "learners.file_model",
    "LinearModel": "training.model",
    "Report": "report.report",
    "as_river": "learners.for_river",
    "certify": "prover.search.certify",
    "certify_cycle": "prover.search.cycles",
    "certify_pairs": "prover.search.certify",
    "diagnose": "regression.diagnosis",
    "firth": "regression.fits",
    "is_separated": "regression.diagnosis",
    "learner": "learners.own",
    "load": "learners.saving",
    "load_linear": "training.model",
    "record": "training.record",
    "register_onnx": "learners.onnx",
    "save": "learners.saving",
    "theory": "report.theory",
    "to_onnx": "learners.onnx",
    "trace": "training.trace",
    "train": "training.train",
    "trial_table": "training.tables",
    "verify": "prover.certificates.verify",
}


def _public() -> list[str]:
    from rosenblatt.learners import ALL

    return sorted([*_HOME, *ALL])


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _public()
    if name == "__version__":
        # Imported here: it takes as long as all else that a command needs to print its help.
        from importlib.metadata import version

        return version("rosenblatt")
    found = getattr(import_module(f"rosenblatt.{_HOME[name]}"), name) if name in _HOME else _learner(name)
    globals()[name] = found  # where Python finds it from now on, without this function
    return found


def _learner(name: str) -> Any:
    if not name.startswith("_"):
        from rosenblatt.learners import ALL

        if name in ALL:
            return ALL[name]
    from rosenblatt.errors import NotAvailable
    from rosenblatt.text import did_you_mean

    meant = did_you_mean(name, _public()) or " Its names are in rosenblatt.__all__."
    raise NotAvailable(f"module 'rosenblatt' has no attribute {name!r}.{meant}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_public(), "__all__", "__version__"})
