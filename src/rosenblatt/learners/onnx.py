"""Models as ONNX graphs, by skl2onnx: linear models, kernels, and random units, in every mode of several classes.

Everything is computed in double precision, whatever the type of the input: a graph in single precision would decide
close cases otherwise than the model.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput, MissingExtra, TooLarge
from rosenblatt.kernels.expansion import Expansion, ballots
from rosenblatt.kernels.kernels import (
    Cosine,
    Gaussian,
    Laplacian,
    Padded,
    Polynomial,
    Precomputed,
    Similarity,
    is_sparse,
)
from rosenblatt.learners import ALL
from rosenblatt.learners.association import AssociationUnits
from rosenblatt.learners.contract import RegressorMixin, check_is_fitted
from rosenblatt.learners.kernel_perceptron import KernelPerceptron
from rosenblatt.learners.soft_margin import logistic, rule_of
from rosenblatt.learners.voted_perceptron import VotedPerceptron
from rosenblatt.training.model import LinearModel
from rosenblatt.training.multiclass import by_pairs, coding_matrix

Array = npt.NDArray[Any]

LARGEST_GRAPH = 1 << 31  # bytes: a limit of protocol buffers


def _skl2onnx(module: str = "skl2onnx") -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra("ONNX needs skl2onnx. Install it with: pip install 'rosenblatt[onnx]'") from None


def convertible() -> tuple[Any, ...]:
    """Return the classes that can be converted: all whose models are hyperplanes, and those with a graph below."""
    linear = (cls for cls in ALL.values() if hasattr(cls, "_named_model"))
    return (*linear, KernelPerceptron, AssociationUnits)


def register_onnx() -> None:
    """Register the family with skl2onnx, which then converts pipelines with its members.

    Raises
    ------
    MissingExtra
        If skl2onnx is not installed.
    """
    update = _skl2onnx().update_registered_converter
    for cls in convertible():
        convert = _convert_classifier
        if issubclass(cls, RegressorMixin):
            convert = _convert_regressor
        elif issubclass(cls, AssociationUnits):
            convert = _convert_units
        update(cls, f"Rosenblatt{cls.__name__}", _shapes, convert, parser=_parse)


def to_onnx(model: Any, *, dtype: Any = np.float32) -> Any:
    """Return a fitted estimator as an ONNX graph.

    The graph takes an array `X` of shape (n_samples, n_features). It returns `label` as `predict` does, and
    `probabilities`, where the model has them, or `scores`, as `predict_proba` and `decision_function` do; a regressor
    and `AssociationUnits` return `variable`. All is computed in double precision.

    Parameters
    ----------
    model : estimator
        Any classifier, `AdalineRegressor` or `AssociationUnits`. `VotedPerceptron` is converted with its vote,
        `KernelPerceptron` with the aggregate of its constructor, unless its kernel is a function. Of a pipeline, call
        `register_onnx`, then ``skl2onnx.to_onnx``.
    dtype : {numpy.float32, numpy.float64}
        Type of the input. Rows in float64 that differ only beyond float32 need the second.

    Returns
    -------
    onnx.ModelProto
        The graph, for `onnx.save` or onnxruntime.

    Raises
    ------
    MissingExtra
        If skl2onnx is not installed.
    """
    if not isinstance(model, convertible()):
        raise InvalidInput(
            f"A {type(model).__name__} cannot be converted: to_onnx takes the learners of this package and "
            "AssociationUnits. Of a pipeline, call register_onnx and then skl2onnx.to_onnx."
        )
    if dtype not in (np.float32, np.float64):
        raise InvalidInput(f"dtype={dtype!r} is invalid. Choose numpy.float32 or numpy.float64.")
    converter, types = _skl2onnx(), _skl2onnx("skl2onnx.common.data_types")
    register_onnx()
    check_is_fitted(model)
    kind = types.FloatTensorType if dtype == np.float32 else types.DoubleTensorType
    width: int | None = getattr(model, "n_features_in_", None)  # a kernel of any objects has no features
    return converter.convert_sklearn(model, initial_types=[("X", kind([None, width]))])


# ------------------------------------------------------------------------------------------------- outputs of a model


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a model in a graph, with its outputs."""
    types = _skl2onnx("skl2onnx.common.data_types")
    operator = scope.declare_local_operator(f"Rosenblatt{type(model).__name__}", model)
    operator.inputs.extend(inputs)
    if isinstance(model, RegressorMixin | AssociationUnits):
        outputs = {"variable": types.DoubleTensorType()}
    else:
        kind = _plain_labels(model.classes_).dtype.kind
        label = {"i": types.Int64TensorType, "f": types.DoubleTensorType}.get(kind, types.StringTensorType)
        outputs = {"label": label(), _second_output(model): types.DoubleTensorType()}
    for name, declared in outputs.items():
        operator.outputs.append(scope.declare_local_variable(name, declared))
    return operator.outputs


def _second_output(model: Any) -> str:
    return "probabilities" if hasattr(model, "predict_proba") else "scores"


def _shapes(operator: Any) -> None:
    """Set the shapes of the outputs."""
    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    numbers = model.bias_.size if isinstance(model, AssociationUnits) else 1
    operator.outputs[0].type.shape = [rows] if len(operator.outputs) == 2 else [rows, numbers]
    if len(operator.outputs) == 2:
        several = model.classes_.size if model.classes_.size > 2 else 1
        columns = max(model.classes_.size, 1) if _second_output(model) == "probabilities" else several
        operator.outputs[1].type.shape = [rows, columns]


def _plain_labels(classes: Array) -> Array:
    """Return labels in a type that ONNX has: int64, float64 or text."""
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    return np.array([str(label) for label in classes])


# ------------------------------------------------------------------------------------------------------------- graphs


class _Graph:
    """Nodes that are added to a graph one after the other."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container
        self.types = _skl2onnx("onnx").TensorProto

    def constant(self, values: Any) -> str:
        """Return the name of a constant: numbers in double precision, integers or texts."""
        array = np.asarray(values)
        if array.nbytes >= LARGEST_GRAPH:
            raise TooLarge(
                f"The model has an array of {array.nbytes / 1e9:.3g} GB, and an ONNX file holds 2 GB. Train "
                "with a budget, or on fewer features."
            )
        kinds = {"f": self.types.DOUBLE, "i": self.types.INT64}
        kind = kinds.get(array.dtype.kind, self.types.STRING)
        flat = [text.encode() for text in array.ravel().tolist()] if kind == self.types.STRING else array.ravel()
        name: str = self.scope.get_unique_variable_name("constant")
        self.container.add_initializer(name, kind, list(array.shape), flat)
        return name

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        name: str = output or self.scope.get_unique_variable_name(kind.lower())
        unique = self.scope.get_unique_operator_name(kind)
        # All operators used here have had their present meaning since version 14.
        self.container.add_node(kind, list(inputs), [name], op_version=14, name=unique, **attributes)
        return name

    def product(self, x: str, W: Array) -> str:
        """Return x W^T, not as MatMul: onnxruntime rounds a number that such a product is multiplied by to float32."""
        return self.node("Gemm", x, self.constant(np.asarray(W, float)), transB=1)

    def affine(self, x: str, W: Array, b: Array) -> str:
        """Return x W^T + b."""
        return self.node("Add", self.product(x, W), self.constant(np.asarray(b, float)))

    def scaled(self, x: str, factor: float) -> str:
        """Return x times a number."""
        return self.node("Mul", x, self.constant([float(factor)]))

    def logistic(self, scores: str) -> str:
        """Return 1 / (1 + e^-score), not by the operator of that name, which some runtimes approximate."""
        limits = self.constant(np.array(-700.0)), self.constant(np.array(700.0))
        powers = self.node("Exp", self.node("Neg", self.node("Clip", scores, *limits)))
        return self.node("Reciprocal", self.node("Add", powers, self.constant([1.0])))

    def signs(self, scores: str) -> str:
        """Return 1 where a score is positive, else -1."""
        positive = self.node("Greater", scores, self.constant(np.zeros(1)))
        return self.node("Where", positive, self.constant(np.ones(1)), self.constant(-np.ones(1)))


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    graph, model = _Graph(scope, container), operator.raw_operator
    x = graph.node("Cast", operator.inputs[0].full_name, to=graph.types.DOUBLE)
    product = graph.product(x, model.coef_[None, :])
    graph.node("Add", product, graph.constant([float(model.intercept_)]), output=operator.outputs[0].full_name)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph, model = _Graph(scope, container), operator.raw_operator
    label, second = (output.full_name for output in operator.outputs)
    x = graph.node("Cast", operator.inputs[0].full_name, to=graph.types.DOUBLE)
    scores = _kernel_scores(graph, x, model) if isinstance(model, KernelPerceptron) else _scores(graph, x, model)
    _elect(graph, scores, model.classes_, label)
    if _second_output(model) == "probabilities":
        logarithms = isinstance(rule_of(model), logistic)
        positive = graph.logistic(scores) if logarithms else _huber(graph, scores, model.classes_.size)
        _probabilities(graph, positive, model.classes_.size, second)
    else:
        graph.node("Identity", scores, output=second)


def _scores(graph: _Graph, x: str, model: Any) -> str:
    """Return the scores of the classes of a linear learner."""
    weights: LinearModel = model._named_model()
    voted = isinstance(model, VotedPerceptron)
    scores = _votes(graph, x, model) if voted else graph.affine(x, np.asarray(weights.W), weights.b)
    return _class_scores(graph, scores, weights.classes.size, weights.multiclass)


def _votes(graph: _Graph, x: str, model: VotedPerceptron) -> str:
    """Return the share of votes for, less the share of votes against, of each problem."""
    stream, votes = model._voted_stream(), []
    trials = stream.state.t
    for p in range(stream.known):
        vectors = list(stream.vectors(p))
        W = np.array([w for w, _, _ in vectors]).reshape(len(vectors), model.n_features_in_)
        bias, survived = np.array([b for _, b, _ in vectors]), np.array([float(n) for _, _, n in vectors])
        ballots = graph.signs(graph.affine(x, W, bias))
        votes.append(graph.product(ballots, survived[None, :]))
    sums = graph.node("Concat", *votes, axis=1)
    return graph.node("Div", sums, graph.constant(np.maximum(trials[: stream.known], 1.0)))


def _class_scores(graph: _Graph, scores: str, n_classes: int, multiclass: str) -> str:
    """Return the scores of the classes, as `rosenblatt.training.multiclass.decision` does."""
    if not by_pairs(multiclass) or n_classes <= 2:
        return scores
    table = coding_matrix(n_classes, multiclass)
    sums = graph.product(scores, table)
    if multiclass == "ovo":
        return sums
    votes = graph.node("Div", graph.product(graph.signs(scores), table), graph.constant([2.0]))
    size = graph.node("Add", graph.node("Abs", sums), graph.constant([1.0]))
    share = graph.node("Div", sums, graph.node("Mul", size, graph.constant([3.0])))
    return graph.node("Add", votes, share)


def _elect(graph: _Graph, scores: str, classes: Array, output: str) -> None:
    """Add the label of the class that wins; a score of zero is the negative class, the first of equals wins."""
    if classes.size > 2:
        winner = graph.node("ArgMax", scores, axis=1, keepdims=0)
    else:
        first = graph.node("Squeeze", scores, graph.constant(np.array([1])))
        positive = graph.node("Greater", first, graph.constant(np.array(0.0 if classes.size == 2 else np.inf)))
        winner = graph.node("Cast", positive, to=graph.types.INT64)
    graph.node("Gather", graph.constant(_plain_labels(classes)), winner, output=output, axis=0)


def _huber(graph: _Graph, scores: str, n_classes: int) -> str:
    """Return (1 + score) / 2 between 0 and 1; if no class has more than 0, 1 for each."""
    inside = graph.node("Clip", scores, graph.constant(np.array(-1.0)), graph.constant(np.array(1.0)))
    positive = graph.scaled(graph.node("Add", inside, graph.constant([1.0])), 0.5)
    if n_classes == 2:
        return positive
    total = graph.node("ReduceSum", positive, graph.constant(np.array([1])), keepdims=1)
    some = graph.node("Greater", total, graph.constant(np.zeros(1)))
    return graph.node("Where", some, positive, graph.constant(np.ones(1)))


def _probabilities(graph: _Graph, positive: str, n_classes: int, output: str) -> None:
    """Add the probabilities of the classes, as `SoftMargin.predict_proba` computes them."""
    if n_classes == 1:
        graph.node("Div", positive, positive, output=output)
    elif n_classes == 2:
        graph.node("Concat", graph.node("Sub", graph.constant([1.0]), positive), positive, output=output, axis=1)
    else:
        total = graph.node("ReduceSum", positive, graph.constant(np.array([1])), keepdims=1)
        graph.node("Div", positive, total, output=output)


# ------------------------------------------------------------------------------------------------------------- kernels


def _kernel_scores(graph: _Graph, x: str, model: KernelPerceptron) -> str:
    """Return the scores of the classes of a kernel perceptron."""
    fitted, learned, aggregate, lag = model._predictor(None)
    kernel = fitted._similarity(np.empty((0, 0)))  # where similarities are looked up, they are the input of the graph
    K = _similarities(graph, x, kernel, learned.vectors)
    if aggregate == "last":
        scores = graph.product(K, learned.coef)
    else:
        sums = _kernel_votes(graph, K, learned) if aggregate == "vote" else graph.product(K, learned.summed(lag))
        scores = graph.node("Div", sums, graph.constant(np.maximum(learned.trials, 1.0)))
    return _class_scores(graph, scores, model.classes_.size, fitted.multiclass)


def _similarities(graph: _Graph, x: str, kernel: Similarity, vectors: Any) -> str:
    """Return k(x, v) of each row with each vector, in shape (n_rows, n_vectors)."""
    if isinstance(kernel, Padded):
        return graph.node("Add", _similarities(graph, x, kernel.inner, vectors), graph.constant([1.0]))
    if isinstance(kernel, Precomputed):  # `vectors` are the numbers of its columns
        return graph.node("Gather", x, graph.constant(vectors), axis=1)
    if kernel.user_defined:
        raise InvalidInput(
            "A kernel that is a function cannot be converted, because a graph cannot hold it. Use a built-in kernel, "
            "or kernel='precomputed', whose graph takes the similarities with the training rows."
        )
    V = np.asarray(vectors.toarray() if is_sparse(vectors) else vectors, np.float64)
    if isinstance(kernel, Laplacian):
        return graph.node("Exp", graph.scaled(_city_block(graph, x, V), -kernel.gamma))
    if isinstance(kernel, Polynomial):
        products = graph.scaled(graph.product(x, V), kernel.gamma)
        shifted = graph.node("Add", products, graph.constant([float(kernel.coef0)]))
        return graph.node("Pow", shifted, graph.constant([float(kernel.degree)]))
    squares = graph.node("ReduceSum", graph.node("Mul", x, x), graph.constant([1]), keepdims=1)
    if isinstance(kernel, Gaussian):
        distances = graph.node("Add", graph.affine(x, -2.0 * V, np.square(V).sum(axis=1)), squares)
        positive = graph.node("Max", distances, graph.constant([0.0]))  # rounding may leave one just below zero
        return graph.node("Exp", graph.scaled(positive, -kernel.gamma))
    assert isinstance(kernel, Cosine)
    lengths = np.linalg.norm(V, axis=1, keepdims=True)
    cosines = graph.product(x, V / np.where(lengths > 0, lengths, 1.0))
    known = graph.node("Greater", squares, graph.constant([0.0]))
    return graph.node("Div", cosines, graph.node("Where", known, graph.node("Sqrt", squares), graph.constant([1.0])))


def _city_block(graph: _Graph, x: str, V: Array) -> str:
    """Return |x - v|_1 of each row with each vector, row by row: all differences at once would fill the memory."""
    helper, to_array = _skl2onnx("onnx.helper"), _skl2onnx("onnx.numpy_helper").from_array
    nodes = [
        helper.make_node("Sub", ["V", "row"], ["differences"]),
        helper.make_node("Abs", ["differences"], ["sizes"]),
        helper.make_node("ReduceSum", ["sizes", "axis"], ["distances"], keepdims=0),
    ]
    row, distances = (
        helper.make_tensor_value_info(name, graph.types.DOUBLE, [size])
        for name, size in (("row", V.shape[1]), ("distances", V.shape[0]))
    )
    constants = [to_array(V, "V"), to_array(np.array([1]), "axis")]
    body = helper.make_graph(nodes, "city_block", [row], [distances], constants)
    return graph.node("Scan", x, body=body, num_scan_inputs=1)


def _kernel_votes(graph: _Graph, K: str, learned: Expansion) -> str:
    """Return the votes for, less those against, of each problem, by every f that there was."""
    slot, step, survived, first = ballots(learned)
    votes = []
    for mine in (slice(*ends) for ends in pairwise(first)):
        similar = graph.node("Gather", K, graph.constant(slot[mine]), axis=1)
        steps = graph.node("Mul", similar, graph.constant(step[mine]))
        scores = graph.node("CumSum", steps, graph.constant(np.array(1)))
        votes.append(graph.product(graph.signs(scores), survived[None, mine]))
    return graph.node("Concat", *votes, axis=1)


# ------------------------------------------------------------------------------------------------------- random units


def _convert_units(scope: Any, operator: Any, container: Any) -> None:
    graph, model = _Graph(scope, container), operator.raw_operator
    model._check_units()
    weights, units = model.weights_, model._as_fitted().units
    x = graph.node("Cast", operator.inputs[0].full_name, to=graph.types.DOUBLE)
    z = graph.affine(x, (weights.toarray() if is_sparse(weights) else weights).T, model.bias_)
    if units == "step":
        found = graph.node("Cast", graph.node("Greater", z, graph.constant([0.0])), to=graph.types.DOUBLE)
    elif units == "relu":
        found = graph.node("Max", z, graph.constant([0.0]))
    elif units == "cosine":
        found = graph.scaled(graph.node("Cos", z), np.sqrt(2.0 / model.bias_.size))
    else:
        found = graph.logistic(z)
    graph.node("Identity", found, output=operator.outputs[0].full_name)
