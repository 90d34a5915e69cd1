"""The same bits on Spark as on threads; vectors, pipelines, files."""

import os
import shutil
import sys

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install --group spark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java is not installed, which Spark needs", allow_module_level=True)

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron
from rosenblatt.errors import InvalidInput

# Warnings of Spark and of what it imports are Spark's.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # the workers import what we do
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def some_rows(classes=2):
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(80, 4)), 1)
    return X, (X @ random.normal(size=(4, classes)) + random.normal(size=(80, classes))).argmax(axis=1)


def frame_of(spark, X, y, shards=8, sparse=False):
    from pyspark.ml.linalg import Vectors

    shard = np.concatenate([np.full(len(part), k) for k, part in enumerate(np.array_split(np.arange(len(y)), shards))])
    rows = [
        (Vectors.sparse(4, {int(j): float(x[j]) for j in np.flatnonzero(x)}) if sparse else Vectors.dense(x), c, k, i)
        for i, (x, c, k) in enumerate(zip(X, y.astype(float).tolist(), shard.tolist(), strict=True))
    ]
    return spark.createDataFrame(rows[::-1], ["features", "label", "shard", "place"])


def classifier(*args, **columns):
    from rosenblatt.scaling.spark import PerceptronClassifier

    return PerceptronClassifier(*args, **columns)


def same(there, here):
    return there.coef_.tobytes() == here.coef_.tobytes() and there.run_.mistakes == here.run_.mistakes


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("member", [AveragedPerceptron(), PassiveAggressive(multiclass="ovo", mixes=2)], ids=str)
def test_spark_gives_the_bits_of_shards_on_threads(spark, member, sparse):
    X, y = some_rows(3)
    frame = frame_of(spark, X, y, sparse=sparse)
    model = classifier(member, rounds=2, shardCol="shard", orderCol="place").fit(frame)
    here = type(member)(**member.get_params() | {"shards": 8, "max_iter": 2})
    assert same(model.fitted, here.fit(sp.csr_matrix(X) if sparse else X, y.astype(float)))
    found = model.transform(frame).select("place", "label", "prediction", "rawPrediction").collect()
    wanted = model.fitted.predict(X)
    assert [row.prediction for row in found] == [wanted[row.place] for row in found]
    assert found[0].rawPrediction.toArray() == pytest.approx(model.fitted.decision_function(X)[found[0].place])


def test_a_pipeline_is_cross_validated_written_and_read(spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    X, y = some_rows()
    frame = frame_of(spark, X, y, shards=2).repartition(2)
    learner = classifier(Perceptron(), rounds=1)
    grid = ParamGridBuilder().addGrid(learner.rounds, [1, 2]).build()
    search = CrossValidator(
        estimator=Pipeline(stages=[learner]),
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
    )
    best = search.fit(frame).bestModel
    best.write().overwrite().save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    assert same(again.stages[0].fitted, best.stages[0].fitted)
    wanted = [row.prediction for row in best.transform(frame).select("prediction").collect()]
    assert [row.prediction for row in again.transform(frame).select("prediction").collect()] == wanted
    learner.write().overwrite().save(str(tmp_path / "learner"))
    assert type(learner).load(str(tmp_path / "learner")).getOrDefault("learner") == "Perceptron"


def test_vectors_dense_and_sparse_become_rows():
    import pyarrow as pa

    from rosenblatt.scaling.spark import rows_of, vectors_of

    X = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(rows_of(vectors_of(X)), X)
    kinds = {"type": [0, 1], "size": [3, None], "indices": [[1], None], "values": [[5.0], [1.0, 0.0, 2.0]]}
    layout = [("type", pa.int8()), ("size", pa.int32())]
    layout += [("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))]
    fields = [pa.array(kinds[name], type=kind) for name, kind in layout]
    mixed = pa.StructArray.from_arrays(fields, [name for name, _ in layout])
    np.testing.assert_array_equal(rows_of(mixed).toarray(), [[0, 5, 0], [1, 0, 2]])
    values = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), pa.array([1.0, 2.0, 3.0]))
    uneven = pa.StructArray.from_arrays([pa.array([1, 1], pa.int8()), *fields[1:3], values], list(kinds))
    with pytest.raises(InvalidInput, match="different lengths"):
        rows_of(uneven)


def test_what_spark_cannot_train_is_refused():
    with pytest.raises(InvalidInput, match="no mean"):
        classifier(AROW())
    with pytest.raises(InvalidInput, match="JSON"):
        classifier(Perceptron(callback=print))
    with pytest.raises(InvalidInput, match="not an estimator"):
        classifier(learner="Nobody").estimator()
