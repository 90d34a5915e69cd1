"""Train and predict on Spark: an Estimator and a Model of pyspark.ml. Needs the extra `spark`, and Java.

It uses only methods of DataFrames (`mapInArrow`), which Spark Connect has as well. A shard is a partition, in the order
of the partitions. Spark may split and order partitions differently when it computes them again; to make the result
independent of that, name a column with the shard of each row (`shardCol`) and one with its place there (`orderCol`).
"""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

import rosenblatt
from rosenblatt.errors import InvalidInput, MissingExtra
from rosenblatt.learners.saving import load, save
from rosenblatt.learners.sharding import check_member, fit_shards
from rosenblatt.scaling.partitions import shard_of_block
from rosenblatt.training.algorithm import never
from rosenblatt.training.mixing import merge, merge_tree
from rosenblatt.training.sharded import Shards, Work
from rosenblatt.training.shards import Late

try:
    import pyarrow as pa
    from pyspark.ml import Estimator, Model
    from pyspark.ml.linalg import VectorUDT
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.param.shared import HasFeaturesCol, HasLabelCol, HasPredictionCol, HasRawPredictionCol, HasWeightCol
    from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType
except ImportError as error:
    raise MissingExtra(f'Spark is not installed ({error}). Install it with pip install "rosenblatt[spark]".') from None

Array = npt.NDArray[Any]

# Columns of the results of shards.
RESULT = "shard long, content binary"
# Maximum size of a cell; longer results take several.
CELL_BYTES = 1 << 28


# --------------------------------------------------------------------------------------------------- vectors as rows


def rows_of(column: Any) -> Any:
    """Return a column of vectors as an array if all are dense, else as a CSR matrix.

    In Arrow, a vector of pyspark.ml is a struct of type (0: sparse), size, indices and values.
    """
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind, size, indices, values = (column.field(name) for name in ("type", "size", "indices", "values"))
    lengths = np.diff(values.offsets.to_numpy())
    data = np.asarray(values.flatten().to_numpy(zero_copy_only=False), float)
    if column.null_count:
        raise InvalidInput("A row has no vector of features. Remove such rows.")
    dense = kind.to_numpy(zero_copy_only=False) == 1
    if dense.all():
        if lengths.size and (lengths != lengths[0]).any():
            raise InvalidInput("The vectors of features have different lengths. Pass vectors of one length.")
        return data.reshape(lengths.size, -1)
    width = int(np.concatenate([size.drop_null().to_numpy(), lengths[dense]]).max())
    listed = np.asarray(indices.flatten().to_numpy(zero_copy_only=False), np.int64)
    columns = np.empty(data.size, np.int64)
    in_dense = np.repeat(dense, lengths)
    columns[~in_dense] = listed
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    columns[in_dense] = (np.arange(data.size) - starts)[in_dense]
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_matrix((data, columns, pointers), shape=(lengths.size, width))


def vectors_of(rows: Array) -> Any:
    """Return the rows of an array as a column of dense vectors, in Arrow's format."""
    count, width = rows.shape
    nothing = pa.nulls(count, pa.int32())
    indices = pa.nulls(count, pa.list_(pa.int32()))
    values = pa.ListArray.from_arrays(
        pa.array(np.arange(0, count * width + 1, max(width, 1), dtype=np.int32)), pa.array(rows.ravel().astype(float))
    )
    kind = pa.array(np.ones(count, np.int8))
    return pa.StructArray.from_arrays([kind, nothing, indices, values], ["type", "size", "indices", "values"])


# -------------------------------------------------------------------------------------------------------------- shards


class OnSpark(Shards):
    """Shards in the partitions of a DataFrame with the columns features, label and optionally weight, shard, place."""

    def __init__(self, frame: Any, numbers: Sequence[int] | None = None) -> None:
        self.frame, self.numbers = frame, numbers

    def combine(self, work: Work, late: Late = never) -> Any:
        """Call `work` where each partition is, and merge the results on the driver, in the order of the shards."""
        results: dict[int, bytes] = {}
        numbers = None if self.numbers is None else frozenset(self.numbers)
        for row in self.frame.mapInArrow(_Worker(work, numbers), RESULT).collect():
            results[row["shard"]] = results.get(row["shard"], b"") + bytes(row["content"])
        return merge_tree((pickle.loads(results.pop(number)) for number in sorted(results)), merge)

    def keep(self, numbers: Sequence[int]) -> None:
        """Forget all shards but these."""
        self.numbers = tuple(numbers)


class _Worker:
    """The function that a Python worker of Spark applies to a partition."""

    def __init__(self, work: Work, numbers: frozenset[int] | None) -> None:
        self.work, self.numbers = work, numbers

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the number of each shard of a partition, and the result of the work on it."""
        filled = [batch for batch in batches if batch.num_rows]
        if not filled:
            return
        for number, part in _shards_of(pa.Table.from_batches(filled)):
            if self.numbers is None or number in self.numbers:
                weight = part["weight"].to_numpy() if "weight" in part.column_names else None
                shard = shard_of_block(number, rows_of(part["features"]), part["label"].to_numpy(), weight)
                content = pickle.dumps(self.work(shard))
                for first in range(0, len(content), CELL_BYTES):
                    cells = {"shard": [number], "content": [content[first : first + CELL_BYTES]]}
                    yield pa.RecordBatch.from_pydict(
                        cells, schema=pa.schema([("shard", pa.int64()), ("content", pa.binary())])
                    )


def _shards_of(table: Any) -> Iterator[tuple[int, Any]]:
    """Yield the shards of a partition with their numbers: that of the partition, or those in its column."""
    if "shard" not in table.column_names:
        from pyspark import TaskContext

        context = TaskContext.get()
        yield (context.partitionId() if context is not None else 0), table
        return
    # Spark has sorted the rows by shard and place.
    numbers = table["shard"].to_numpy()
    cuts = np.flatnonzero(np.diff(numbers)) + 1
    for first, last in zip([0, *cuts], [*cuts, len(numbers)], strict=True):
        yield int(numbers[first]), table.slice(first, last - first)


# --------------------------------------------------------------------------------------------- the pair of pyspark.ml


class _Columns(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasRawPredictionCol, HasWeightCol):
    """Parameters of the pair."""

    shardCol = Param(  # noqa: N815 (Spark's spelling)
        Params._dummy(), "shardCol", "column with the shard of each row, a whole number", TypeConverters.toString
    )
    orderCol = Param(  # noqa: N815
        Params._dummy(), "orderCol", "column with the place of each row in its shard", TypeConverters.toString
    )
    rounds = Param(
        Params._dummy(), "rounds", "maximum number of epochs; 0: the learner's max_iter", TypeConverters.toInt
    )
    mixing = Param(Params._dummy(), "mixing", "uniform, or mistakes", TypeConverters.toString)
    learner = Param(Params._dummy(), "learner", "class of the estimator", TypeConverters.toString)
    settings = Param(Params._dummy(), "settings", "its parameters, as JSON", TypeConverters.toString)

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(rounds=0, mixing="uniform", learner="AveragedPerceptron", settings="{}")


class PerceptronClassifier(_Columns, Estimator, MLReadable, MLWritable):
    """A linear classifier as an Estimator of pyspark.ml.

    Parameters
    ----------
    estimator : estimator, optional
        A linear estimator for which mixing is defined, by default an `AveragedPerceptron`. It is stored as the
        parameters `learner` and `settings` (JSON), which a grid of `CrossValidator` may vary.
    featuresCol, labelCol, predictionCol, rawPredictionCol, weightCol : str
        Columns, as everywhere in pyspark.ml. Labels are numbers or text.
    rounds, mixing
        As for `rosenblatt.scaling.dask.fit`.
    shardCol, orderCol : str, optional
        Columns with the shard of each row and its place there. Without them each partition is a shard.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> from rosenblatt.scaling.spark import PerceptronClassifier
    >>> model = PerceptronClassifier(AveragedPerceptron(), rounds=5).fit(frame)  # doctest: +SKIP
    >>> model.transform(frame).select("prediction")  # doctest: +SKIP
    """

    def __init__(self, estimator: Any = None, **columns: Any) -> None:
        super().__init__()
        if estimator is not None:
            check_member(estimator)
            changed = {
                name: value
                for name, value in estimator.get_params().items()
                if value != type(estimator)().get_params()[name]
            }
            try:
                columns |= {"learner": type(estimator).__name__, "settings": json.dumps(changed)}
            except TypeError as error:
                raise InvalidInput(
                    f"A parameter of the estimator cannot be written as JSON ({error}). Pass numbers and text."
                ) from None
        self._set(**columns)

    def estimator(self) -> Any:
        """Return the estimator that the parameters describe."""
        name = self.getOrDefault(self.learner)
        if name not in rosenblatt.__all__:
            raise InvalidInput(
                f"learner={name!r} is not an estimator of rosenblatt. Pass the name of a class, such as 'Perceptron'."
            )
        return getattr(rosenblatt, name)(**json.loads(self.getOrDefault(self.settings)))

    def _fit(self, dataset: Any) -> PerceptronClassifierModel:
        frame = self._prepared(dataset).persist()
        try:
            rounds = self.getOrDefault(self.rounds) or None
            fitted = fit_shards(self.estimator(), OnSpark(frame), rounds=rounds, mixing=self.getOrDefault(self.mixing))
        finally:
            frame.unpersist()
        model: PerceptronClassifierModel = self._copyValues(PerceptronClassifierModel(fitted))
        return model

    def _prepared(self, dataset: Any) -> Any:
        """Return the columns for training, sorted by shard and place if these are set."""
        taken = {"features": self.featuresCol, "label": self.labelCol, "weight": self.weightCol}
        taken |= {"shard": self.shardCol, "place": self.orderCol}
        columns = {name: self.getOrDefault(param) for name, param in taken.items() if self.isDefined(param)}
        if "place" in columns and "shard" not in columns:
            raise InvalidInput("orderCol is the place of a row in its shard. Pass shardCol as well.")
        frame = dataset.select(*(dataset[column].alias(name) for name, column in columns.items()))
        if "shard" not in columns:
            return frame
        frame = frame.withColumn("shard", frame["shard"].cast("long")).repartition("shard")
        return frame.sortWithinPartitions(*(name for name in ("shard", "place") if name in columns))

    def write(self) -> MLWriter:
        """Return a writer."""
        return DefaultParamsWriter(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """Return a reader."""
        return DefaultParamsReader(cls)


class PerceptronClassifierModel(_Columns, Model, MLReadable, MLWritable):
    """A fitted linear classifier as a Model of pyspark.ml.

    Parameters
    ----------
    fitted : estimator
        Any fitted linear classifier, also one from `rosenblatt.load`.

    Attributes
    ----------
    fitted : estimator
        The estimator itself, with its `coef_` and its `run_`.
    """

    def __init__(self, fitted: Any = None) -> None:
        super().__init__()
        self.fitted = fitted

    @property
    def numClasses(self) -> int:  # noqa: N802 (Spark's spelling)
        """Number of classes."""
        return int(self.fitted.classes_.size)

    def _transform(self, dataset: Any) -> Any:
        texts = self.fitted.classes_.dtype.kind in "UO"
        fields = [
            StructField(self.getOrDefault(self.rawPredictionCol), VectorUDT()),
            StructField(self.getOrDefault(self.predictionCol), StringType() if texts else DoubleType()),
        ]
        schema = StructType([*dataset.schema.fields, *fields])
        predict = _Predict(model_bytes(self.fitted), self.getOrDefault(self.featuresCol), [one.name for one in fields])
        return dataset.mapInArrow(predict, schema)

    def copy(self, extra: Any = None) -> Any:
        """Return a copy with other columns, which shares the fitted estimator."""
        copied = super().copy(extra)
        copied.fitted = self.fitted
        return copied

    def write(self) -> MLWriter:
        """Return a writer that stores the parameters as Spark does, and the model file in a table."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """Return a reader."""
        return _Reader(cls)


def model_bytes(model: Any) -> bytes:
    """Return the model file of an estimator, as bytes."""
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


class _Predict:
    """The function that adds predictions to the rows of a partition."""

    def __init__(self, model: bytes, features: str, names: list[str]) -> None:
        self.model, self.features, self.names = model, features, names

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows with the scores of the classes, and the predicted class."""
        model = load(self.model)
        for batch in batches:
            if not batch.num_rows:
                continue
            rows = rows_of(batch.column(self.features))
            scores = np.atleast_2d(model.decision_function(rows).T).T
            raw = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
            predicted = model.predict(rows)
            text = predicted.dtype.kind in "UO"
            column = pa.array(predicted.astype(str).tolist() if text else predicted.astype(float))
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, vectors_of(raw), column], [*batch.schema.names, *self.names]
            )


class _Writer(MLWriter):
    def __init__(self, instance: PerceptronClassifierModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:  # noqa: N802
        """Write the parameters, and the model file."""
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession)
        content = bytearray(model_bytes(self.instance.fitted))
        self.sparkSession.createDataFrame([(content,)], "model binary").coalesce(1).write.parquet(f"{path}/model")


class _Reader(MLReader):  # type: ignore[type-arg, unused-ignore]
    def __init__(self, cls: type[PerceptronClassifierModel]) -> None:
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> PerceptronClassifierModel:
        """Read the parameters, and the model file."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        content = self.sparkSession.read.parquet(f"{path}/model").first()
        if content is None:
            raise InvalidInput(f"{path} does not contain a model. Pass a path written by write().")
        model = self.cls(load(bytes(content["model"])))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
