"""What every estimator must have. This fails, and says what was forgotten, when a new one is made public."""

import inspect
import re
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier, is_regressor

import rosenblatt
from members import EVERY_CLASS, FAMILY, STREAMS
from oracles.table import ORACLES, WITHOUT
from rosenblatt import learners, load, save
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import ALL
from rosenblatt.learners.base import Estimator, Facts
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import real

ROOT = Path(__file__).parents[1]
LEARNERS = (ROOT / "docs" / "reference" / "learners.md").read_text()
NARRATE = (ROOT / "src" / "rosenblatt" / "lab" / "static" / "narrate.js").read_text()
TESTS = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)}
PUBLIC = [name for name in rosenblatt.__all__ if isinstance(getattr(rosenblatt, name), type)]
ESTIMATORS = [name for name in PUBLIC if issubclass(getattr(rosenblatt, name), BaseEstimator)]

# Whoever is missing on purpose, and why.
CHECKED_IN_ITS_OWN_FILE = {
    "AssociationUnits": "tests/learners/test_association.py",  # a transformer
    "KernelPerceptron": "tests/learners/test_kernel_perceptron.py",  # checks of kernels and budgets
    "TableHasher": "tests/learners/test_hashers.py",  # a transformer
    "TextHasher": "tests/learners/test_hashers.py",  # a transformer of texts
}
WITHOUT_TRIALS = "maximum_margin"  # the rule of a learner that the lab has no updates to explain of
# They prepare rows for the family, and are described with the files.
NOT_OF_THE_FAMILY = {"TableHasher": "docs/reference/features.md", "TextHasher": "docs/reference/features.md"}


def rows_of(cls):
    if cls is rosenblatt.TextHasher:
        return ["some words", "", "more words"], [0, 1, 0]
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((30, 3)))
    return X, (X[:, 0] > X[:, 1]).astype(int)


def output(model, X):
    found = model.transform(X) if hasattr(model, "transform") else model.predict(X)
    return found.toarray() if hasattr(found, "toarray") else found


def stored(cls, folder):
    """Whether the class comes back from files, fitted and not."""
    X, y = rows_of(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = cls().fit(X, y)
    try:
        for model in (cls(), fitted):
            save(model, folder / "model.safetensors")
            found = load(folder / "model.safetensors")
            if type(found) is not cls or found.get_params() != model.get_params():
                return False
    except InvalidInput:
        return False
    return output(found, X).tolist() == output(fitted, X).tolist()


def held_against(name, oracle):
    """Whether some file of tests uses both the estimator and the oracle."""
    module = oracle.__module__.rpartition(".")[2]
    used = re.compile(rf"\b{module}\.{oracle.__name__}\b")
    return any(re.search(rf"\b{name}\b", text) and used.search(text) for text in TESTS.values())


def has_own_oracle(cls):
    """Whether the file of a learner's tests has the same algorithm, slow and plain."""
    path = ROOT / "tests" / "learners" / f"test_{cls.__module__.rpartition('.')[2]}.py"
    return "\ndef oracle(" in TESTS.get(path, "")


def forgotten_facts(cls):
    """Return what a learner does not say of itself."""
    name, facts, found = cls.__name__, getattr(cls, "facts", None), []
    if facts is None:
        found.append("facts = Facts(...): the year, what it does and when to choose it, for the tables of learners")
    else:
        if not (1900 < facts.published < 2100 and facts.does and facts.when):
            found.append("the year, what it does, or when to choose it, in its facts")
        if is_classifier(cls()) and not facts.title:
            found.append("a title for the lab, in its facts")
        others = [one for one in ALL.values() if one is not cls and one.facts]
        same = [one.__name__ for one in others if one.facts.command == facts.command]
        if facts.command and same:
            found.append(f"a command of its own, in its facts; {facts.command!r} is that of {same[0]}")
        explained = f"\n  {facts.rule}(" in NARRATE or f"RULES.{facts.rule} =" in NARRATE
        if facts.title and not explained and facts.rule != WITHOUT_TRIALS:
            found.append(f"a rule of RULES in lab/static/narrate.js; {facts.rule!r} is none")
    if not re.search(rf"^\|[^|]*`{name}`[^|]*\|", LEARNERS, re.MULTILINE):
        found.append("a row in the table of docs/reference/learners.md: run make tables")
    for key, parameter in getattr(cls, "declared", {}).items():
        if not parameter.text:
            found.append(f"a text for its parameter {key}")
    for section in ("References", "Examples"):
        if f"\n{section}\n---" not in (inspect.getdoc(cls) or ""):
            found.append(f"a section {section} in its docstring")
    return found


def forgotten(name, folder):
    """Return what an estimator lacks, each with the place where it belongs."""
    cls = getattr(rosenblatt, name)
    found = []
    if cls not in EVERY_CLASS:
        found.append("its class in EVERY_CLASS of tests/members.py")
    described = NOT_OF_THE_FAMILY.get(name)
    if described and f"`{name}`" not in (ROOT / described).read_text():
        found.append(f"a word in {described}")
    if not described:
        found += forgotten_facts(cls)
    if not any(isinstance(model, cls) for model in [*FAMILY, *STREAMS]):
        own = CHECKED_IN_ITS_OWN_FILE.get(name)
        text = TESTS.get(ROOT / own, "") if own else ""
        if "parametrize_with_checks" not in text or f"{name}(" not in text:
            found.append("scikit-learn's estimator checks: a member of FAMILY or STREAMS in tests/members.py")
    if (
        hasattr(cls(), "learn_one")
        and not is_regressor(cls())  # STREAMS are given labels; tests/learners/test_linear_streams.py has numbers
        and not any(isinstance(model, cls) for model in STREAMS)
        and name not in (CHECKED_IN_ITS_OWN_FILE)
    ):
        found.append("a member of STREAMS in tests/members.py, since it learns row by row")
    if not hasattr(cls, "_to_file") or not stored(cls, folder):
        found.append("storage: save and load must give it back, fitted and not (stored_attributes, _check_learned)")
    if not ORACLES.get(name) and name not in WITHOUT and not has_own_oracle(cls):
        found.append("an oracle: in tests/oracles/table.py, or a function named oracle in the file of its tests")
    for oracle in ORACLES.get(name, ()):
        if not held_against(name, oracle):
            found.append(f"a test that holds it against the oracle {oracle.__name__}")
    return found


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_public_estimator_has_everything(name, tmp_path):
    missing = forgotten(name, tmp_path)
    assert not missing, f"{name} lacks " + "; ".join(missing)


def test_exemptions_are_of_estimators_that_need_them():
    assert {cls.__name__ for cls in EVERY_CLASS} == set(ESTIMATORS)
    for table in (CHECKED_IN_ITS_OWN_FILE, WITHOUT, ORACLES):
        assert table.keys() <= set(ESTIMATORS)
    assert not ORACLES.keys() & WITHOUT.keys()


def test_an_estimator_that_forgot_everything_is_told_so(tmp_path, monkeypatch):
    class Forgetful(ClassifierMixin, BaseEstimator):
        """It fits, and nobody has heard of it."""

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.zeros(len(X))

        def learn_one(self, x, y):
            return False

    monkeypatch.setattr(rosenblatt, "Forgetful", Forgetful, raising=False)
    missing = forgotten("Forgetful", tmp_path)
    places = ["EVERY_CLASS", "facts", "learners.md", "References", "Examples", "FAMILY", "STREAMS", "storage", "oracle"]
    assert len(missing) == len(places)
    for text, place in zip(missing, places, strict=True):
        assert place in text


def test_a_learner_that_forgot_its_facts_is_told_which():
    class Silent(LinearClassifier):
        """It is silent.

        Parameters
        ----------
        {parameters}
        """

        step: float = real(default=1.0, text="", above=0, wanted="a positive number")

        facts = Facts(published=0, does="", when="", title="Silent", rule="nonsense")

    missing = "; ".join(forgotten_facts(Silent))
    for place in ("the year", "'nonsense' is none", "make tables", "text for its parameter step", "References"):
        assert place in missing
    Silent.facts = Facts(published=1999, does="something", when="always", command="arow")
    assert "a title for the lab" in "; ".join(forgotten_facts(Silent))
    assert "'arow' is that of AROW" in "; ".join(forgotten_facts(Silent))


def test_a_class_with_parameters_is_a_learner_that_is_found():
    """A docstring without {parameters} hides a class from the registry."""
    modules = [import_module(f"rosenblatt.learners.{one.name}") for one in iter_modules(learners.__path__)]
    found = [cls for module in modules for cls in vars(module).values() if isinstance(cls, type)]
    classes = [cls for cls in found if issubclass(cls, Estimator) and cls.declared]
    forgot = {cls.__name__ for cls in classes if not cls.__name__.startswith("_")} - set(ALL)
    assert not forgot, f"{', '.join(forgot)} lacks the placeholder {{parameters}} in its docstring"
