"""Pipelines in model files: what comes back predicts the same bits, and a forged file gives no unsound step."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from attacks.forge import content, join, pruned, split
from rosenblatt import (
    AROW,
    AdalineRegressor,
    AssociationUnits,
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    TableHasher,
    TextHasher,
    VotedPerceptron,
    load,
    load_linear,
    save,
)
from rosenblatt.errors import InvalidInput, NotAvailable
from rosenblatt.learners import steps

WORDS = ["win", "money", "now", "see", "you", "at", "noon", "for", "lunch", "the", "Prize", "café", "a", "I", "x"]
COLOURS = np.array(["red", "green", "blue"], object)


def labels(n=60):
    return np.array(["ham", "spam", "other"])[np.random.default_rng(1).integers(0, 3, n)]


def numbers(n=60, seed=0):
    return np.random.default_rng(seed).normal(3.0, 2.0, (n, 4))


def float32(n=60, seed=0):
    return numbers(n, seed).astype(np.float32)


def frame(n=60, seed=0):
    return pd.DataFrame(numbers(n, seed), columns=list("abcd"))


def sparse(n=60, seed=0):
    return sp.csr_matrix(np.where(numbers(n, seed) > 3, numbers(n, seed), 0.0))


def holes(n=60, seed=0):
    X = numbers(n, seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    return X


def texts(n=60, seed=0):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, 9))) for _ in range(n)]


def dicts(n=60, seed=0):
    random = np.random.default_rng(seed)
    return [{"age": float(random.normal()), "colour": str(random.choice(COLOURS))} for _ in range(n)]


def words(n=60, seed=0):
    return [text.split() for text in texts(n, seed)]


def categories(n=60, seed=0):
    random = np.random.default_rng(seed)
    return np.column_stack([random.choice(COLOURS, n), random.choice(COLOURS[:2], n)])


def codes(n=60, seed=0):
    return np.random.default_rng(seed).integers(0, 5, (n, 3))


def table(n=60, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {"age": random.normal(size=n), "colour": random.choice(COLOURS, n).astype(object), "text": texts(n, seed)}
    )


CASES = [
    *(
        (step, rows)
        for step in (StandardScaler(), MinMaxScaler(), RobustScaler())
        for rows in (numbers, frame, float32)
    ),
    (make_pipeline(StandardScaler(), SimpleImputer()), holes),
    (StandardScaler(with_mean=False), sparse),
    (StandardScaler(with_mean=False, with_std=False), numbers),
    (MinMaxScaler(feature_range=(-1, 1), clip=True), numbers),
    (MaxAbsScaler(), numbers),
    (MaxAbsScaler(), sparse),
    (RobustScaler(with_centering=False, quantile_range=(10.0, 90.0), unit_variance=True), sparse),
    (RobustScaler(with_scaling=False), numbers),
    *((Normalizer(norm=norm), rows) for norm in ("l1", "l2", "max") for rows in (numbers, sparse)),
    (HashingVectorizer(), texts),
    (HashingVectorizer(n_features=64, analyzer="char_wb", ngram_range=(1, 3), norm=None, dtype=np.float32), texts),
    (CountVectorizer(), texts),
    (CountVectorizer(min_df=3, max_features=7, binary=True, ngram_range=(1, 2), strip_accents="unicode"), texts),
    (CountVectorizer(vocabulary=["money", "noon"], token_pattern=r"(?u)\b\w+\b"), texts),
    (CountVectorizer(vocabulary={"noon": 1, "money": 0}), texts),
    (TfidfVectorizer(), texts),
    (TfidfVectorizer(stop_words="english", sublinear_tf=True, norm=None, dtype=np.float32), texts),
    (TfidfVectorizer(stop_words=["noon"], use_idf=False, lowercase=False), texts),
    (make_pipeline(CountVectorizer(), TfidfTransformer()), texts),
    (make_pipeline(HashingVectorizer(n_features=128, alternate_sign=False), TfidfTransformer(norm="l1")), texts),
    (FeatureHasher(), dicts),
    (FeatureHasher(n_features=32, input_type="string", alternate_sign=False), words),
    (DictVectorizer(), dicts),
    (DictVectorizer(sparse=False, sort=False, separator=":", dtype=np.float32), dicts),
    *((SimpleImputer(strategy=strategy), holes) for strategy in ("mean", "median", "most_frequent", "constant")),
    (SimpleImputer(add_indicator=True), holes),
    (make_pipeline(SimpleImputer(strategy="most_frequent", missing_values="red"), OneHotEncoder()), categories),
    (OneHotEncoder(), categories),
    (OneHotEncoder(drop="if_binary", sparse_output=False), categories),
    (OneHotEncoder(drop="first", handle_unknown="ignore", dtype=np.float32), codes),
    (OneHotEncoder(categories=[["green", "red", "blue"], ["red", "green"]]), categories),
    (make_pipeline(OneHotEncoder(), MaxAbsScaler(), Normalizer()), codes),
    (StandardScaler().set_output(transform="pandas"), frame),
    (TextHasher(bits=12, words=(1, 2)), texts),
    (TableHasher(bits=10, columns={"text": "text"}, cross="colour*text"), table),
    (make_pipeline(StandardScaler(), AssociationUnits(n_units=20)), numbers),
]


def pipeline(first, learner):
    """Return the steps before a learner, and the learner, in one pipeline."""
    before = [step for _, step in first.steps] if isinstance(first, Pipeline) else [first]
    return make_pipeline(*before, learner)


def name(value):
    return " ".join(str(value).split()) if not callable(value) else value.__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("step", "rows"), CASES, ids=name)
def test_a_pipeline_predicts_the_same_bits(step, rows, tmp_path):
    model = pipeline(step, AROW())
    save(model, tmp_path / "unfitted")
    assert str(load(tmp_path / "unfitted")) == str(model)
    model.fit(rows(), labels())
    save(model, tmp_path / "model")
    back, new = load(tmp_path / "model"), rows(40, seed=5)
    assert type(back) is Pipeline
    assert [(name, type(step)) for name, step in back.steps] == [(name, type(step)) for name, step in model.steps]
    assert back.decision_function(new).tobytes() == model.decision_function(new).tobytes()
    assert back.predict(new).tolist() == model.predict(new).tolist()
    for (_, one), (_, other) in zip(model.steps[:-1], back.steps[:-1], strict=True):
        assert vars(one).keys() - vars(other).keys() <= {"_stop_words_id"}
        assert str(one.get_params()) == str(other.get_params())
    save(back, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    again = [one.fit(rows(seed=9), labels()).decision_function(new) for one in (model, back)]
    assert again[0].tobytes() == again[1].tobytes()


def test_every_step_of_the_table_is_tried():
    tried = {type(one).__name__ for step, _ in CASES for _, one in pipeline(step, AROW()).steps}
    assert steps.STEPS.keys() - tried == {"MissingIndicator"}  # is inside SimpleImputer


@pytest.mark.parametrize("learner", [Perceptron(), KernelPerceptron(), VotedPerceptron(), AdalineRegressor()], ids=str)
def test_any_estimator_of_the_family_may_be_last(learner, tmp_path):
    y = labels() if not isinstance(learner, AdalineRegressor) else numbers()[:, 0]
    model = make_pipeline(StandardScaler(), learner).fit(numbers(), y)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(numbers(9, 3)).tolist() == model.predict(numbers(9, 3)).tolist()


def test_a_loaded_pipeline_goes_on_learning(tmp_path):
    model = make_pipeline(StandardScaler(), AROW()).fit(numbers(), labels())
    save(model, tmp_path / "model")
    for one in (model, back := load(tmp_path / "model")):
        rows = one[:-1][0].partial_fit(numbers(seed=7)).transform(numbers(seed=7))
        one[-1].partial_fit(rows, labels())
    assert back.decision_function(numbers(seed=8)).tobytes() == model.decision_function(numbers(seed=8)).tobytes()


def test_names_of_steps_stay(tmp_path):
    model = Pipeline([("model", StandardScaler()), ("attributes.steps", AROW())], verbose=True)
    save(model.fit(numbers(), labels()), tmp_path / "model")
    back = load(tmp_path / "model")
    assert [*back.named_steps] == ["model", "attributes.steps"]
    assert back.verbose is True


class Scaler(StandardScaler):
    pass


def noted(step):
    step.note = "mine"
    return step


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (make_pipeline(PolynomialFeatures(), AROW()), "step 'polynomialfeatures', of type PolynomialFeatures: files"),
        (make_pipeline(FunctionTransformer(np.sqrt), AROW()), "of type FunctionTransformer: .* before the pipeline"),
        (make_pipeline(Scaler(), AROW()), "step 'scaler', of type Scaler"),
        (make_pipeline(make_pipeline(StandardScaler()), AROW()), "step 'pipeline', of type Pipeline"),
        (Pipeline([("none", "passthrough"), ("learn", AROW())]), "step 'none', of type str"),
        (make_pipeline(StandardScaler()), "last step is a StandardScaler"),
        (make_pipeline(StandardScaler(), AROW(), memory="x"), r"memory='x' is not stored.*set_params\(memory=None\)"),
        (make_pipeline(noted(StandardScaler()), AROW()), "step 'standardscaler', .*it has note"),
        (make_pipeline(TfidfVectorizer(tokenizer=str.split), AROW()), "'tfidfvectorizer', .*tokenizer=.*no functions"),
        (make_pipeline(CountVectorizer(analyzer=str.split), AROW()), "analyzer=.*a file holds no functions"),
        (make_pipeline(CountVectorizer(preprocessor=str.upper), AROW()), "preprocessor=.*before the pipeline"),
        (make_pipeline(HashingVectorizer(token_pattern=r"(\w+)+$"), AROW()), "token_pattern=.*could take forever"),
        (make_pipeline(HashingVectorizer(input="filename"), AROW()), "input='filename'.*reads no other files"),
        (make_pipeline(OneHotEncoder(min_frequency=2), AROW()), "min_frequency=2.*TableHasher"),
        (make_pipeline(SimpleImputer(strategy=np.max), AROW()), "strategy=.*no functions"),
        (make_pipeline(CountVectorizer(dtype=object), AROW()), "dtype='object'.*one of the types float64"),
        (make_pipeline(TextHasher(), Perceptron(callback=print)), "step 'perceptron', .*callback=.*is a function"),
    ],
)
def test_a_step_that_cannot_be_stored_is_named_with_the_remedy(model, message, tmp_path):
    with pytest.raises(InvalidInput, match=message):
        save(model, tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda scaler: setattr(scaler, "mean_", scaler.mean_[:2]), "mean_=.*a number for each feature"),
        (lambda scaler: vars(scaler).pop("var_"), "no var_"),
        (lambda scaler: setattr(scaler, "scale_", None), "scale_ is missing"),
    ],
)
def test_a_step_that_is_not_whole_is_not_saved(change, message, tmp_path):
    model = make_pipeline(StandardScaler(), AROW()).fit(numbers(), labels())
    change(model[0])
    with pytest.raises(InvalidInput, match=message):
        save(model, tmp_path / "x")


# -------------------------------------------------------------------------------------------------------- forged files


def field(node, *keys):
    """Return the pair of a value in the JSON of a file, through records and dicts."""
    for key in keys:
        node = node["record"][1] if isinstance(node, dict) and "record" in node else node
        if isinstance(node, dict) and "dict" in node:
            node = next(pair for pair in node["dict"] if pair[0] == key)[1]
        else:
            node = node[key]
    return node


def put(node, keys, value):
    where = field(node, *keys[:-1])
    if isinstance(where, dict) and "record" in where:
        where = where["record"][1]
    if isinstance(where, dict) and "dict" in where:
        where["dict"] = [pair for pair in where["dict"] if pair[0] != keys[-1]] + [[keys[-1], value]]
    else:
        where[keys[-1]] = value


def forge(model, rows, changes, folder):
    """Save a fitted model, change values of its JSON by their place, and write it with a true seal."""
    save(model.fit(rows(), labels()), folder / "x")
    header, tensors = split((folder / "x").read_bytes())
    node = content(header)
    for keys, value in changes:
        put(node["attributes"]["steps"], keys, value)
    (folder / "x").write_bytes(join(header, pruned(header, node, tensors), model=node))
    return folder / "x"


P, A = "parameters", "attributes"
FORGERIES = [
    (StandardScaler(), numbers, [((0, A, "n_features_in_"), 3)], "mean_="),
    (StandardScaler(), numbers, [((0, A, "n_features_in_"), "4")], "n_features_in_='4'"),
    (StandardScaler(), numbers, [((0, A, "n_features_in_"), -1)], "n_features_in_=-1"),
    (StandardScaler(), numbers, [((0, A, "mean_"), [1.0, 2.0])], "mean_="),
    (StandardScaler(), numbers, [((0, A, "transform"), 3)], "it has 'transform'"),
    (StandardScaler(), numbers, [((0, A, "__class__"), 3)], "it has '__class__'"),
    (StandardScaler(), numbers, [((0, P, "callback"), None)], "'callback' is not a parameter"),
    (StandardScaler(), numbers, [((0, P, "with_mean"), "no")], "with_mean='no'"),
    (StandardScaler(), numbers, [((0, A), {"dict": []}), ((0, A, "n_samples_seen_"), 3)], "has no .*mean_"),
    (Normalizer(), numbers, [((0, P, "norm"), "l3")], "norm='l3'"),
    (HashingVectorizer(), texts, [((0, P, "input"), "filename")], "input='filename'"),
    (HashingVectorizer(), texts, [((0, P, "token_pattern"), r"(\w+)+$")], "token_pattern="),
    (HashingVectorizer(), texts, [((0, P, "encoding"), "idna")], "encoding='idna'"),
    (HashingVectorizer(), texts, [((0, P, "ngram_range"), {"tuple": [1, 10**9]})], "ngram_range="),
    (HashingVectorizer(), texts, [((0, P, "n_features"), 0)], "n_features=0"),
    (FeatureHasher(), dicts, [((0, P, "n_features"), 2**31)], "n_features=2147483648"),
    (FeatureHasher(), dicts, [((0, P, "dtype"), "object")], "dtype='object'"),
    (CountVectorizer(), texts, [((0, A, "vocabulary_"), {"dict": [["a", 0], ["b", 7]]})], "vocabulary_="),
    (CountVectorizer(), texts, [((0, A, "vocabulary_"), {"objects": ["a", "a"]})], "vocabulary_="),
    (CountVectorizer(), texts, [((0, A, "vocabulary_"), {"objects": [1, 2]})], "vocabulary_="),
    (TfidfVectorizer(), texts, [((0, A, "vocabulary_"), {"objects": ["a", "b"]})], "idf_ is not of vocabulary_"),
    (TfidfVectorizer(), texts, [((0, A, "_tfidf", A, "n_features_in_"), 2)], "idf_="),
    (TfidfVectorizer(), texts, [((0, A, "_tfidf"), None)], "_tfidf=None"),
    (TfidfVectorizer(), texts, [((0, A, "_tfidf"), {"dict": [["x", 1]]})], "parameters, attributes"),
    (DictVectorizer(), dicts, [((0, A, "feature_names_"), {"objects": ["a"]})], "feature_names_ are not vocabulary_"),
    (OneHotEncoder(), codes, [((0, A, "_n_features_outs"), [1, 1, 1])], "_n_features_outs are not"),
    (OneHotEncoder(), codes, [((0, A, "_infrequent_enabled"), True)], "_infrequent_enabled=True"),
    (OneHotEncoder(), codes, [((0, A, "categories_"), [{"objects": [4, 3, 2, 1, 0]}] * 3)], "categories_="),
    (OneHotEncoder(), codes, [((0, A, "categories_"), [{"objects": ["a", "a"]}] * 3)], "categories_="),
    (OneHotEncoder(), codes, [((0, A, "categories_"), [])], "categories_="),
    (OneHotEncoder(drop="first"), codes, [((0, A, "drop_idx_"), [0, 0, 9])], "not places in categories_"),
    (OneHotEncoder(drop="first"), codes, [((0, A, "drop_idx_"), [0, 0, -1])], "drop_idx_="),
    (OneHotEncoder(drop="first"), codes, [((0, A, "_drop_idx_after_grouping"), None)], "two versions"),
    (SimpleImputer(), holes, [((0, A, "_fit_dtype"), "V9")], "_fit_dtype='V9'"),
    (SimpleImputer(add_indicator=True), holes, [((0, A, "indicator_", A, "n_features_in_"), 2)], "features_="),
    (SimpleImputer(add_indicator=True), holes, [((0, A, "indicator_", A, "_n_features"), 2)], "another number"),
    (StandardScaler(), numbers, [((1, A, "n_features_in_"), 3)], "step 'arow', of type AROW: the weights are of 4"),
    (StandardScaler(), numbers, [((0,), 3)], "step 'standardscaler', .*it is not a StoredStep"),
    (StandardScaler(), numbers, [((0, P), 3)], "it.parameters is not of type"),
]


@pytest.mark.parametrize(("step", "rows", "changes", "message"), FORGERIES, ids=name)
def test_a_forged_step_is_refused(step, rows, changes, message, tmp_path):
    path = forge(pipeline(step, AROW()), rows, changes, tmp_path)
    with pytest.raises(InvalidInput, match=message) as caught:
        load(path)
    assert "Pass a file that rosenblatt.save wrote" in str(caught.value)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([["a", "os.system"], ["b", "AROW"]], "holds a 'os.system', which is not one of"),
        ([["a", "Pipeline"], ["b", "AROW"]], "holds a 'Pipeline', which is not one of"),
        ([["a", "LinearModel"], ["b", "AROW"]], "it is not a step"),
        ([["a", "FunctionTransformer"], ["b", "AROW"]], "step 'a', of type FunctionTransformer"),
        ([["a", "MinMaxScaler"], ["b", "AROW"]], "step 'a', of type MinMaxScaler: 'with_mean' is not a parameter"),
        ([["a", "StandardScaler"], ["a", "AROW"]], "the same name"),
        ([["a", "StandardScaler"]], "its steps are not those that it names"),
        ([["a", "StandardScaler"], ["b", ["AROW"]]], "not names of steps"),
        ([], "not names of steps"),
        (3, "not names of steps"),
    ],
)
def test_names_of_steps_are_not_believed(names, message, tmp_path):
    save(make_pipeline(StandardScaler(), AROW()).fit(numbers(), labels()), tmp_path / "x")
    header, tensors = split((tmp_path / "x").read_bytes())
    node = content(header)
    node["parameters"]["steps"] = names
    (tmp_path / "x").write_bytes(join(header, tensors, model=node))
    with pytest.raises(InvalidInput, match=message):
        load(tmp_path / "x")


def test_sorted_categories_keep_one_hot_rows_inside_their_columns(tmp_path):
    # scikit-learn looks numbers up by bisection: unsorted categories would give columns that are not there.
    model = make_pipeline(OneHotEncoder(sparse_output=False), AROW()).fit(codes(), labels())
    model[0].categories_ = [values[::-1].copy() for values in model[0].categories_]
    with pytest.raises(InvalidInput, match="categories_="):
        save(model, tmp_path / "x")


# ------------------------------------------------------------------------------------------------------ command line


def rosenblatt(*arguments):
    command = [sys.executable, "-m", "rosenblatt", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def answers(*arguments):
    done = rosenblatt("predict", *arguments, "--scores", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_command_line_predicts_texts(tmp_path):
    model = make_pipeline(TextHasher(words=(1, 2), normalise=False), AveragedPerceptron()).fit(texts(), labels())
    save(model, tmp_path / "model")
    new, truth = texts(30, seed=4), labels(30)
    (tmp_path / "new.txt").write_text("".join(f"{y}\t{text}\n" for y, text in zip(truth, new, strict=True)))
    found = answers(tmp_path / "new.txt", "-m", tmp_path / "model")
    assert [one["prediction"] for one in found] == model.predict(new).tolist()
    assert [[*one["scores"].values()] for one in found] == model.decision_function(new).tolist()
    done = rosenblatt("evaluate", tmp_path / "new.txt", "-m", tmp_path / "model", "--json")
    assert json.loads(done.stdout)["accuracy"] == pytest.approx(model.score(new, truth))


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_the_command_line_predicts_tables(ending, tmp_path):
    model = make_pipeline(TableHasher(columns={"text": "text"}), AROW()).fit(table(), labels())
    save(model, tmp_path / "model")
    new, path = table(30, seed=4), tmp_path / f"new.{ending}"
    if ending == "csv":
        new[["text", "age", "colour"]].to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in new.to_dict("records")))
    found = answers(path, "-m", tmp_path / "model")
    assert [[*one["scores"].values()] for one in found] == model.decision_function(new).tolist()
    done = rosenblatt("evaluate", path, "-m", tmp_path / "model")
    assert done.returncode == 1
    assert "does not know which column has the labels" in done.stderr


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (make_pipeline(StandardScaler(), AROW()), numbers),
        (make_pipeline(TextHasher(), VotedPerceptron()), texts),  # its weights do not predict what its votes do
        (make_pipeline(TextHasher(), MaxAbsScaler(), AROW()), texts),
        (make_pipeline(TableHasher(), AROW()), numbers),
    ],
    ids=name,
)
def test_weights_after_other_steps_are_not_taken_alone(model, rows, tmp_path):
    save(model.fit(rows(), labels()), tmp_path / "model")
    with pytest.raises(NotAvailable, match=r"rosenblatt\.load\(.*\)\.predict"):
        load_linear(tmp_path / "model")


def test_the_command_line_says_how_to_predict_by_other_steps(tmp_path):
    save(make_pipeline(TfidfVectorizer(), AROW()).fit(texts(), labels()), tmp_path / "model")
    (tmp_path / "new.txt").write_text("ham\tsee you\n")
    done = rosenblatt("predict", tmp_path / "new.txt", "-m", tmp_path / "model")
    assert done.returncode == 1
    assert "holds a pipeline, whose steps only rosenblatt.load applies" in done.stderr
    assert "Traceback" not in done.stderr
