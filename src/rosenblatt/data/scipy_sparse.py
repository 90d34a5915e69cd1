"""SciPy's sparse matrices, imported when the first is met: programs without them start a tenth of a second sooner."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import scipy.sparse as sp
else:

    class _Late:
        """The module `scipy.sparse`, each name of it fetched once."""

        def __getattr__(self, name: str) -> Any:
            import scipy.sparse

            value = getattr(scipy.sparse, name)
            setattr(self, name, value)
            return value

        @staticmethod
        def issparse(X: Any) -> bool:
            """Return whether X is sparse, which it cannot be while nobody has imported the module."""
            loaded = sys.modules.get("scipy.sparse")
            return loaded is not None and loaded.issparse(X)

    sp = _Late()
__all__ = ["sp"]
