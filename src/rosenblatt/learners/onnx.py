"""Models as ONNX graphs, by skl2onnx: the linear members of the family, in every mode of several classes.

Everything is computed in double precision, whatever the type of the input: a graph in single precision would decide
close cases otherwise than the model.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.learners import ALL
from rosenblatt.learners.contract import RegressorMixin, check_is_fitted
from rosenblatt.learners.voted_perceptron import VotedPerceptron
from rosenblatt.training.model import LinearModel
from rosenblatt.training.multiclass import by_pairs, coding_matrix

Array = npt.NDArray[Any]


def _skl2onnx(module: str = "skl2onnx") -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra("ONNX needs skl2onnx. Install it with: pip install 'rosenblatt[onnx]'") from None


def linear_learners() -> tuple[Any, ...]:
    """Return the learners whose models are hyperplanes."""
    return tuple(cls for cls in ALL.values() if hasattr(cls, "_named_model"))


def register_onnx() -> None:
    """Register the linear members of the family with skl2onnx, which then converts pipelines with one of them.

    Raises
    ------
    MissingExtra
        If skl2onnx is not installed.
    """
    update = _skl2onnx().update_registered_converter
    for cls in linear_learners():
        convert = _convert_regressor if issubclass(cls, RegressorMixin) else _convert_classifier
        update(cls, f"Rosenblatt{cls.__name__}", _shapes, convert, parser=_parse)


def to_onnx(model: Any, *, dtype: Any = np.float32) -> Any:
    """Return a fitted linear member of the family as an ONNX graph.

    The graph takes an array `X` of shape (n_samples, n_features). It returns `label` as `predict` does, and
    `probabilities`, where the model has them, or `scores`, as `predict_proba` and `decision_function` do; a regressor
    returns `variable`. All is computed in double precision.

    Parameters
    ----------
    model : estimator
        `VotedPerceptron` is converted with its vote. Of a pipeline, call `register_onnx`, then ``skl2onnx.to_onnx``.
    dtype : {numpy.float32, numpy.float64}
        Type of the input. Rows in float64 that differ only beyond float32 need the second.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    MissingExtra
        If skl2onnx is not installed.
    """
    if not isinstance(model, linear_learners()):
        raise InvalidInput(
            f"A {type(model).__name__} cannot be converted: to_onnx takes the linear members of the family. Of a "
            "pipeline, call register_onnx and then skl2onnx.to_onnx."
        )
    if dtype not in (np.float32, np.float64):
        raise InvalidInput(f"dtype={dtype!r} is invalid. Choose numpy.float32 or numpy.float64.")
    converter, types = _skl2onnx(), _skl2onnx("skl2onnx.common.data_types")
    register_onnx()
    check_is_fitted(model)
    kind = types.FloatTensorType if dtype == np.float32 else types.DoubleTensorType
    width: int = getattr(model, "n_features_in_")  # noqa: B009 (a tuple of classes has no attributes for a type checker)
    return converter.convert_sklearn(model, initial_types=[("X", kind([None, width]))])


# ------------------------------------------------------------------------------------------------- outputs of a model


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a model in a graph, with its outputs."""
    types = _skl2onnx("skl2onnx.common.data_types")
    operator = scope.declare_local_operator(f"Rosenblatt{type(model).__name__}", model)
    operator.inputs.extend(inputs)
    if isinstance(model, RegressorMixin):
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
    operator.outputs[0].type.shape = [rows] if len(operator.outputs) == 2 else [rows, 1]
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

    def affine(self, x: str, W: Array, b: Array) -> str:
        """Return x W^T + b."""
        product = self.node("MatMul", x, self.constant(np.asarray(W, float).T))
        return self.node("Add", product, self.constant(np.asarray(b, float)))

    def signs(self, scores: str) -> str:
        """Return 1 where a score is positive, else -1."""
        positive = self.node("Greater", scores, self.constant(np.zeros(1)))
        return self.node("Where", positive, self.constant(np.ones(1)), self.constant(-np.ones(1)))


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    graph, model = _Graph(scope, container), operator.raw_operator
    x = graph.node("Cast", operator.inputs[0].full_name, to=graph.types.DOUBLE)
    product = graph.node("MatMul", x, graph.constant(np.asarray(model.coef_, float)[:, None]))
    graph.node("Add", product, graph.constant([float(model.intercept_)]), output=operator.outputs[0].full_name)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph, model = _Graph(scope, container), operator.raw_operator
    weights: LinearModel = model._named_model()
    label, second = (output.full_name for output in operator.outputs)
    x = graph.node("Cast", operator.inputs[0].full_name, to=graph.types.DOUBLE)
    voted = isinstance(model, VotedPerceptron)
    scores = _votes(graph, x, model) if voted else graph.affine(x, np.asarray(weights.W), weights.b)
    scores = _class_scores(graph, scores, weights.classes.size, weights.multiclass)
    _elect(graph, scores, weights.classes, label)
    if _second_output(model) == "probabilities":
        _probabilities(graph, scores, weights.classes.size, second)
    else:
        graph.node("Identity", scores, output=second)


def _votes(graph: _Graph, x: str, model: VotedPerceptron) -> str:
    """Return the share of votes for, less the share of votes against, of each problem."""
    stream, votes = model._voted_stream(), []
    trials = stream.state.t
    for p in range(stream.known):
        vectors = list(stream.vectors(p))
        W = np.array([w for w, _, _ in vectors]).reshape(len(vectors), model.n_features_in_)
        bias, survived = np.array([b for _, b, _ in vectors]), np.array([float(n) for _, _, n in vectors])
        ballots = graph.signs(graph.affine(x, W, bias))
        total = graph.node("MatMul", ballots, graph.constant(survived[:, None]))
        votes.append(graph.node("Div", total, graph.constant([float(max(trials[p], 1))])))
    return graph.node("Concat", *votes, axis=1)


def _class_scores(graph: _Graph, scores: str, n_classes: int, multiclass: str) -> str:
    """Return the scores of the classes, as `rosenblatt.training.multiclass.decision` does."""
    if not by_pairs(multiclass) or n_classes <= 2:
        return scores
    table = graph.constant(coding_matrix(n_classes, multiclass).T.astype(float))
    sums = graph.node("MatMul", scores, table)
    if multiclass == "ovo":
        return sums
    votes = graph.node("Div", graph.node("MatMul", graph.signs(scores), table), graph.constant([2.0]))
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


def _probabilities(graph: _Graph, scores: str, n_classes: int, output: str) -> None:
    """Add the probabilities of the classes, as `SoftMargin.predict_proba` computes them."""
    limits = graph.constant(np.array(-700.0)), graph.constant(np.array(700.0))
    # Not by the operator of that name, which some runtimes approximate.
    powers = graph.node("Exp", graph.node("Neg", graph.node("Clip", scores, *limits)))
    positive = graph.node("Reciprocal", graph.node("Add", powers, graph.constant([1.0])))
    if n_classes == 1:
        graph.node("Div", positive, positive, output=output)
    elif n_classes == 2:
        graph.node("Concat", graph.node("Sub", graph.constant([1.0]), positive), positive, output=output, axis=1)
    else:
        total = graph.node("ReduceSum", positive, graph.constant(np.array([1])), keepdims=1)
        graph.node("Div", positive, total, output=output)
