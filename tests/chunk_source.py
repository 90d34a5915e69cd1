"""A source of chunks in memory, for tests of what learns from files."""

import numpy as np
import scipy.sparse as sp

from rosenblatt.data.table import as_table
from rosenblatt.files.chunks import Chunk, Position
from rosenblatt.learners import trainable
from rosenblatt.training.chunked import ChunkedJob
from rosenblatt.training.plan import Plan


class MemorySource:
    """Rows of a matrix as chunks of so many rows."""

    again, cached = True, True

    def __init__(self, X, y, weight=None, rows=50, again=True):
        self.X, self.y, self.weight, self.rows, self.again = X, np.asarray(y), weight, rows, again
        self.begun = 0

    def _chunk(self, start, stop):
        weight = None if self.weight is None else np.asarray(self.weight)[start:stop]
        return Chunk(as_table(self.X[start:stop]), self.y[start:stop], weight, Position(stop, 0, 0, 0))

    def read(self, position):
        n = self.X.shape[0]
        return (self._chunk(i, min(i + self.rows, n)) for i in range(position.row, n, self.rows))

    def __iter__(self):
        self.begun += 1
        if self.begun > 1:
            assert self.again
        return self.read(Position(0, 0, 0, 0))

    @property
    def chunk_count(self):
        return -(-self.X.shape[0] // self.rows)

    def chunk(self, number):
        return self._chunk(number * self.rows, min((number + 1) * self.rows, self.X.shape[0]))

    @property
    def n_features(self):
        return self.X.shape[1]

    def digest(self):
        return "memory"


def rows(n_classes, sparse, n=211, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 7)) * (random.random((n, 7)) < 0.6)
    y = np.argmax(X[:, :n_classes] + 0.5 * random.normal(size=(n, n_classes)), axis=1)
    names = np.array(["ant", "bee", "cat", "doe"])[y]
    return (sp.csr_matrix(X) if sparse else X), names


def job_of(name, parameters, source, *, epochs=3, **more):
    cls = trainable()[name]
    member = cls(**({"intercept_scaling": 1.0} if "intercept_scaling" in cls.declared else {}))
    for key, value in parameters.items():
        setattr(member, key, value)

    def configure(look):
        member.n_features_in_ = look.table.shape[1]
        member._adapt(look.sizes, look.classes.size, warm=False)
        return member._settings()

    plan = {"order": "cyclic", "max_iter": epochs, "tol": None, "keep": "last", "n_iter_no_change": 5}
    plan |= {key: more.pop(key) for key in list(more) if key in Plan.__dataclass_fields__}
    return ChunkedJob(source, configure, member._plan(**plan), **more)
