"""Texts and tables as sparse rows, in scikit-learn's pipelines."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt
from oracles import features
from rosenblatt import AveragedPerceptron, TableHasher, TextHasher, load, save
from rosenblatt.errors import InvalidInput

TEXTS = ["Win money, now now", "", "see you: été", b"bytes are \xff UTF-8"]
FRAME = pd.DataFrame(
    {"age": [33, np.nan, 44.5], "colour": ["red", None, "blue"], "text": ["a b c d", "e f g", "h i j"]}
)


@parametrize_with_checks([TableHasher(), TableHasher(bits=8, normalise=True)])
def test_scikit_learn_accepts_the_transformer_of_tables(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_parameters_default_constructible,
    ],
)
def test_scikit_learn_accepts_the_transformer_of_texts(check):  # as far as it can make texts
    check("TextHasher", TextHasher())


@pytest.mark.parametrize("options", [{}, {"words": (1, 2), "letters": (2, 3), "bits": 12, "counts": "count"}], ids=str)
def test_rows_of_texts_are_those_of_the_oracle(options):
    X = TextHasher(**options).transform(TEXTS)
    kinds = {"words": "word_range", "letters": "letter_range"}
    for i, text in enumerate(TEXTS):
        data = text if isinstance(text, bytes) else text.encode()
        expected = features.text_row(data, **{kinds.get(name, name): value for name, value in options.items()})
        row = X[i]
        assert row.indices.tolist() == sorted(expected)
        np.testing.assert_allclose(row.data, [expected[column] for column in row.indices])


def test_tables_may_be_frames_dicts_or_arrays():
    hasher = TableHasher().fit(FRAME)
    assert hasher.kinds_ == ("number", "category", "text")
    X = hasher.transform(FRAME)
    records = [{name: value for name, value in row.items() if value == value} for row in FRAME.to_dict("records")]
    assert (TableHasher().fit_transform(records) != X).nnz == 0
    assert X[0, features.number_column("age")] == 33
    assert X[2, features.category_column("colour", "blue")] == 1
    numbers = TableHasher(bits=20).fit_transform(np.array([[1.5, 0], [2, 3]]))
    assert numbers.sum(axis=1).reshape(-1).tolist() == [[1.5, 5]]


def test_columns_have_names_where_a_pipeline_asks_for_them():
    texts = TextHasher(bits=3)
    assert texts.get_feature_names_out().tolist() == [f"texthasher{j}" for j in range(8)]
    with pytest.raises(NotFittedError):
        TableHasher(bits=3).get_feature_names_out()
    both = ColumnTransformer([("t", texts, "text"), ("rest", TableHasher(bits=2), ["age", "colour"])]).fit(FRAME)
    assert both.transform(FRAME).shape == (3, 12)
    assert both.get_feature_names_out().tolist()[7:9] == ["t__texthasher7", "rest__tablehasher0"]


def test_rows_stay_sparse_whatever_the_settings_ask_for():
    hasher, expected = TextHasher(bits=10), TextHasher(bits=10).transform(TEXTS)
    assert hasher.set_output(transform="default").set_output() is hasher
    for name in ("pandas", "polars"):
        with pytest.raises(InvalidInput, match="the rows of TextHasher are sparse"):
            make_pipeline(hasher, AveragedPerceptron()).set_output(transform=name)
        with config_context(transform_output=name):
            assert (hasher.fit_transform(TEXTS) != expected).nnz == 0
            assert TableHasher(bits=4).fit_transform(FRAME).shape == (3, 16)


def test_they_are_saved_cloned_and_pickled(tmp_path):
    crossed = TableHasher(bits=9, cross=["age*colour", ("text", "text")]).fit(FRAME)
    for model, X in ((TextHasher(words=(1, 2), cross="text*text"), TEXTS), (crossed, FRAME)):
        save(model, tmp_path / "model")
        for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), clone(model).fit(X)):
            assert (again.transform(X) != model.transform(X)).nnz == 0


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: TextHasher().transform("one text"), "X is one text"),
        (lambda: TextHasher().transform([1]), "not text"),
        (lambda: TextHasher(bits=99).fit(), "bits"),
        (lambda: TextHasher(words=(2, 1)).fit(), "words"),
        (lambda: TableHasher(cross="age*colour").set_params(cross=7).fit(FRAME), "cross"),
        (lambda: TableHasher(columns={"x": "number"}).fit(FRAME), "columns has 'x'"),
        (lambda: TableHasher().fit([]), "X has"),
        (lambda: TableHasher().fit(FRAME).transform(FRAME.assign(age="x")), "Column 'age' was numeric"),
        (lambda: TableHasher().fit(FRAME).transform(FRAME.assign(age=np.inf)), "infinite"),
    ],
)
def test_what_cannot_be_hashed_is_refused(action, message):
    with pytest.raises(InvalidInput, match=message):
        action()


def test_spam_is_recognised(real_data):
    lines = (real_data / "sms_spam" / "SMSSpamCollection").read_text(encoding="utf8").split("\n")
    labels, texts = zip(*(line.split("\t", 1) for line in lines if line), strict=True)
    model = make_pipeline(TextHasher(), AveragedPerceptron(max_iter=5, tol=None))
    assert cross_val_score(model, list(texts), np.array(labels), cv=10).mean() > 0.98


@pytest.mark.long
def test_mutated_files_crash_no_parser():
    folder = Path(__file__).parents[1]
    script = [sys.executable, str(folder / "attacks" / "fuzz_files.py"), "3000", "7"]
    paths = [str(Path(rosenblatt.__file__).parents[1]), str(folder)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    read, faulty, _ = map(int, done.stdout.split())
    assert read > 300
    assert faulty > 300


MAILS = ["win money now", "see you at noon"]


@pytest.mark.parametrize(
    "X",
    [
        pd.Series(MAILS, dtype="string"),
        pd.Series(MAILS, dtype="category"),
        pd.Index(MAILS),
        pd.DataFrame({"t": MAILS}),
        np.array(MAILS)[:, None],
        np.array(MAILS, object),
        [text.encode() for text in MAILS],
        tuple(MAILS),
    ],
    ids=lambda X: type(X).__name__,
)
def test_texts_in_one_column_are_texts(X):
    """A data frame of one column gave one row, of the words of its name."""
    expected = TextHasher(bits=10).transform(MAILS)
    assert (TextHasher(bits=10).transform(X) != expected).nnz == 0
    assert (TextHasher(bits=10).transform(text for text in MAILS) != expected).nnz == 0


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (pd.DataFrame({"a": MAILS, "b": MAILS}), "the columns 'a' and 'b', and texts are one"),
        (pl.DataFrame({"a": MAILS, "b": MAILS}), "the columns 'a' and 'b', and texts are one"),
        (pd.DataFrame({"a": MAILS, "b": MAILS}).to_records(), "which is not text"),
        (pd.DataFrame(), "no column"),
        (pd.DataFrame({"n": [1, 2]}), "has 1 in row 0, which is not text"),
        ({"a": MAILS}, "of type dict"),
        pytest.param({*MAILS}, "of type set", id="a set"),  # whose order is another in each process
        ("win money", "one text"),
        (bytearray(b"win"), "one text"),
        (None, "of type NoneType"),
        (["win", None], "no text in row 1, but None"),
        (pd.Series(["win", None]), "no text in row 1, but "),
        (pd.Series(["win", pd.NA], dtype="string"), "no text in row 1, but <NA>"),
        (np.array("win"), r"shape \(\)"),
        (np.array([MAILS]), r"shape \(1, 2\)"),
        ([["win"], ["see"]], r"has \['win'\] in row 0"),
        (sp.csr_matrix((2, 1)), r"shape \(2, 1\)"),
    ],
    ids=str,
)
def test_what_is_not_one_column_of_texts_is_refused(X, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        TextHasher().transform(X)
