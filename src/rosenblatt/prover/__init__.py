"""Prove whether classes can be separated, and check such proofs.

* `search` looks for a proof; `search.certify` lists its steps.
* `certificates` has the certificate and `verify`, which checks it without any code of the search.
* `exact` is the arithmetic without rounding that both rest on.
* `transforms` makes rows on which `certify` answers questions about other models.

The names below are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which do not run `__getattr__`
    from rosenblatt.prover.certificates.brackets import Bracket as Bracket
    from rosenblatt.prover.certificates.certificate import Certificate as Certificate
    from rosenblatt.prover.certificates.verify import verify as verify
    from rosenblatt.prover.exact.clock import TIME_LIMIT as TIME_LIMIT
    from rosenblatt.prover.exact.clock import Deadline as Deadline
    from rosenblatt.prover.exact.clock import OutOfTime as OutOfTime
    from rosenblatt.prover.exact.signed_rows import SignedRows as SignedRows
    from rosenblatt.prover.search.certify import certify as certify
    from rosenblatt.prover.search.certify import certify_pairs as certify_pairs
    from rosenblatt.prover.search.cycles import certify_cycle as certify_cycle
    from rosenblatt.prover.transforms import against_thresholds as against_thresholds
    from rosenblatt.prover.transforms import monomials as monomials

_HOME = {
    "Bracket": "certificates.brackets",
    "Certificate": "certificates.certificate",
    "Deadline": "exact.clock",
    "OutOfTime": "exact.clock",
    "SignedRows": "exact.signed_rows",
    "TIME_LIMIT": "exact.clock",
    "against_thresholds": "transforms",
    "certify": "search.certify",
    "certify_cycle": "search.cycles",
    "certify_pairs": "search.certify",
    "monomials": "transforms",
    "verify": "certificates.verify",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
