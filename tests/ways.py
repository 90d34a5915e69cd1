"""The ways to learn, and a short training with each."""

import numpy as np

from rosenblatt.data.table import as_table
from rosenblatt.engine.rules import passive_aggressive, perceptron
from rosenblatt.learners.alma import AlmaRule
from rosenblatt.learners.arow import Arow
from rosenblatt.learners.p_norm import PNorm
from rosenblatt.learners.pocket import PocketAlgorithm
from rosenblatt.learners.projection import Projected
from rosenblatt.learners.romma import RommaRule
from rosenblatt.learners.soft_margin import hinge
from rosenblatt.learners.voted_perceptron import Voted
from rosenblatt.learners.winnow import Multiplicative, WinnowRule
from rosenblatt.training.algorithm import EpochArgs, new_counts
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import coding_matrix, make_task

METHODS = {
    "perceptron": FirstOrder(perceptron()),
    "averaged": FirstOrder(perceptron(), averaged=True),
    "ridge": FirstOrder(hinge(), l2=0.1),
    "elastic net, averaged": FirstOrder(hinge(), l1=0.1, l2=0.1, averaged=True),
    "passive-aggressive": FirstOrder(passive_aggressive(C=1.0)),
    "voted": Voted(perceptron()),
    "AROW": Arow(1.0),
    "AROW, full": Arow(1.0, full=True),
    "balanced Winnow": Multiplicative(WinnowRule(1.5, balanced=True)),
    "Winnow": Multiplicative(WinnowRule(2.0, False), 1.5),
    "ALMA": Projected(AlmaRule(1.0)),
    "p-norm": PNorm(3.0),
    "ROMMA": Projected(RommaRule(True)),
    "pocket": PocketAlgorithm(),
}
STREAMING = {name: method for name, method in METHODS.items() if name != "pocket"}


def trained(method, classes=3, n=25, d=4, seed=0, state=None):
    rng = np.random.default_rng(seed)
    X, label = rng.integers(0, 4, (n, d)).astype(float), rng.integers(0, classes, n).astype(np.int32)
    sign = coding_matrix(classes, "ovr")
    task = make_task(label, sign, "ovr", weight=np.empty(0), bias=1.0)
    state = method.start(sign.shape[1], d, np.float64) if state is None else state
    every, counts = np.empty(0, np.int32), new_counts(sign.shape[1])
    shown = EpochArgs(as_table(X).rows, task, every, every, np.arange(sign.shape[1]), 1.0, counts, False)
    method.run_epoch(shown, state, state)
    return state, shown
