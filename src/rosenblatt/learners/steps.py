"""Steps of scikit-learn's in model files: which classes, parameters and attributes a file may hold.

`STEPS` has them all. A file names a class, and the table says where it is. scikit-learn trusts the attributes of a
fitted step, and some of its code does not check bounds: each value is checked against its kind before a step is made of
it, and before one is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.learners.callbacks import ATTRIBUTES as CALLBACKS
from rosenblatt.storage.checks import entries, is_integer, is_label, is_of
from rosenblatt.storage.registry import Fault, expect
from rosenblatt.text import short_repr

Array = npt.NDArray[Any]

LONGEST_GRAM = 64  # a text has at most this many times as many n-grams as words


class Kind(NamedTuple):
    """Values that a parameter or an attribute may have.

    `fits` is given a value as it is in the file, and the number of features of the step. `write` makes that of the
    value, and `read` is the way back.
    """

    wanted: str
    fits: Callable[[Any, int], bool]
    write: Callable[[Any], Any] = lambda value: value
    read: Callable[[Any], Any] = lambda stored: stored


class StepSchema(NamedTuple):
    """What files may hold of a class of scikit-learn's.

    Attributes
    ----------
    module : str
        Where it is.
    parameters : dict
        Of the constructor. One that is not listed has its default value.
    fitted : dict
        Attributes that every fit sets.
    at_times : dict
        Attributes that some fits set, or some versions of scikit-learn.
    laws : dict
        Conditions on a fitted step, by the sentence that says how one fails.
    derived : tuple
        Attributes that scikit-learn sets again where it needs them, and that are not stored.
    """

    module: str
    parameters: Mapping[str, Kind]
    fitted: Mapping[str, Kind] = {}
    at_times: Mapping[str, Kind] = {}
    laws: Mapping[str, Callable[[Any], bool]] = {}
    derived: tuple[str, ...] = ()


# -------------------------------------------------------------------------------------------------------------- kinds


def of(hint: Any, wanted: str) -> Kind:
    """Return the values of a type."""
    return Kind(wanted, lambda value, n: is_of(value, hint))


def one_of(*choices: Any, because: str = "") -> Kind:
    """Return the kind of some values."""
    wanted = f"{' or '.join(map(repr, choices))}{because}"
    return Kind(wanted, lambda value, n: any(type(value) is type(one) and value == one for one in choices))


def optional(kind: Kind) -> Kind:
    """Return a kind and None."""
    return Kind(
        f"{kind.wanted}, or None",
        lambda value, n: value is None or kind.fits(value, n),
        lambda value: None if value is None else kind.write(value),
        lambda stored: None if stored is None else kind.read(stored),
    )


def whole(least: int, most: int = 2**31 - 1) -> Kind:
    """Return whole numbers in a range."""
    return Kind(f"a whole number from {least} to {most}", lambda value, n: is_of(value, int) and least <= value <= most)


def pair(hint: Any, fits: Callable[[Any, Any], bool], wanted: str) -> Kind:
    """Return pairs of numbers that fit each other."""
    return Kind(wanted, lambda value, n: is_of(value, tuple[hint, hint]) and fits(*value))


def _dtype_name(value: Any) -> Any:
    try:
        return np.dtype(value).name
    except TypeError:
        return value  # is refused by its kind


def dtype(*more: str, read: Callable[[str], Any]) -> Kind:
    """Return types of numbers, by name."""
    names = ("float64", "float32", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), *more)
    return Kind(f"one of the types {', '.join(names)}", lambda name, n: name in names, _dtype_name, read)


def part(name: str) -> Kind:
    """Return steps of a class that are attributes of others."""
    return Kind(
        f"a {name}",
        lambda stored, n: is_of(stored, dict[str, Any]),
        lambda step: dict(zip(_PARTS, take_apart(step), strict=True)) if find(name) is type(step) else step,
        lambda stored: put_together(name, *entries(stored, _PARTS)),
    )


_PARTS = ("parameters", "attributes")


def _is_row(value: Any, n: int, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.shape == (n,)


def _are_indices(value: Any, n: int) -> bool:
    fits = isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.ndim == 1
    return fits and bool(np.all((value >= 0) & (value < n)))


def _is_count(value: Any, n: int) -> bool:
    return is_of(value, float) or _is_row(value, n, "iuf")


def _are_texts(value: Any) -> bool:
    fits = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == object
    return fits and all(type(text) is str for text in value)


def _are_different(value: Any) -> bool:
    return _are_texts(value) and len(set(value)) == value.size


def _object_array(values: Any) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _by_index(vocabulary: Any) -> Any:
    """Return the words in the order of their columns, if these are 0, 1, 2, ..."""
    if not is_of(vocabulary, dict[str, int]) or sorted(vocabulary.values()) != [*range(len(vocabulary))]:
        return vocabulary
    return _object_array(sorted(vocabulary, key=vocabulary.__getitem__))


def _are_categories(value: Any, n: int) -> bool:
    """Return whether each feature has categories: different texts, or numbers that rise, of which NaN is the last.

    scikit-learn looks numbers up by bisection, and does not check the place that it finds.
    """
    return type(value) is list and len(value) == n and all(map(_are_categories_of_one, value))


def _are_categories_of_one(values: Any) -> bool:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or not values.size or values.dtype.kind not in "biufUO":
        return False
    if all(isinstance(one, str) for one in values):
        return len(set(values.tolist())) == values.size
    if values.dtype.kind == "f" and np.isnan(values[-1]):
        values = values[:-1]
    numbers = all(is_label(one) and not isinstance(one, str) for one in values)
    return numbers and bool(np.all(values[1:] > values[:-1]))


FLAG = of(bool, "True or False")
REAL = of(float, "a number")
TEXT = of(str, "text")
NUMPY_TYPE = dtype(read=lambda name: np.dtype(name).type)
DTYPE = dtype("bool", "object", read=np.dtype)
SCALAR = of(float | str | None, "a number, text or None")
RANGE = pair(float, lambda low, high: low < high, "a pair of rising numbers")
GRAMS = pair(
    int, lambda low, high: 1 <= low <= high <= LONGEST_GRAM, f"a pair of rising whole numbers from 1 to {LONGEST_GRAM}"
)
NORM = one_of("l1", "l2", None)
NO_FUNCTION = one_of(None, because=": a file holds no functions. Apply it to the texts before the pipeline")
PATTERN = one_of(
    r"(?u)\b\w\w+\b",
    r"(?u)\b\w+\b",
    because=": other regular expressions could take forever. Use one of these, analyzer='char_wb' or TextHasher",
)
NO_GROUPS = one_of(None, because=": groups of rare categories are not stored. Leave it out, or use TableHasher")

COLUMN = Kind("a number for each feature", lambda value, n: _is_row(value, n, "f"))
COUNT = Kind("a number of rows", _is_count)
VALUES = Kind(
    "a number or text for each feature",
    lambda value, n: _is_row(value, n, "biufUO") and (value.dtype != object or all(map(is_label, value))),
)
NAMES = Kind("a name for each feature", lambda value, n: _are_texts(value) and value.shape == (n,))
INDICES = Kind("numbers of features", _are_indices)
WORDS = Kind(
    "a dict from words to columns 0, 1, 2, ...",
    lambda value, n: _are_different(value),
    _by_index,
    lambda words: {word: column for column, word in enumerate(words)},
)
WORD_LIST = Kind(
    "a list of different words",
    lambda value, n: _are_different(value),
    lambda words: _object_array(words) if is_of(words, list[str]) else words,
    lambda words: words.tolist(),
)
CATEGORIES = Kind("different texts, or rising numbers, for each feature: fill in missing values", _are_categories)
DROPPED = Kind(
    "a place or None for each feature",
    lambda value, n: type(value) is list and len(value) == n and all(v is None or is_integer(v) for v in value),
    lambda value: [v if v is None else int(v) for v in value],
    _object_array,
)
OUTPUT = of(dict[Literal["transform"], Literal["default", "pandas", "polars"]], "what set_output sets")


# -------------------------------------------------------------------------------------------------------------- table

_COPY = {"copy": FLAG}
_ROWS = {"n_features_in_": whole(1)}
_NAMED = {"feature_names_in_": NAMES, "_sklearn_output_config": OUTPUT}
_HASHED = {"n_features": whole(1), "alternate_sign": FLAG, "dtype": NUMPY_TYPE}
_TEXTS = {
    "input": one_of("content", because=": a pipeline from a file reads no other files. Pass the texts themselves"),
    "encoding": one_of("utf-8", "utf8", "ascii", "latin-1", "latin1", "iso-8859-1", "cp1252", "utf-16"),
    "decode_error": one_of("strict", "ignore", "replace"),
    "strip_accents": one_of(None, "ascii", "unicode"),
    "stop_words": of(Literal["english"] | list[str] | None, "'english', a list of words, or None"),
    "analyzer": one_of("word", "char", "char_wb", because=": a file holds no functions"),
    **dict.fromkeys(("lowercase", "binary"), FLAG),
    **dict.fromkeys(("preprocessor", "tokenizer"), NO_FUNCTION),
    "token_pattern": PATTERN,
    "ngram_range": GRAMS,
    "dtype": NUMPY_TYPE,
}
_COUNTED = _TEXTS | {
    **dict.fromkeys(("max_df", "min_df"), REAL),
    "max_features": optional(whole(1)),
    "vocabulary": of(dict[str, int] | list[str] | None, "a dict from words to columns, a list of words, or None"),
}
_WEIGHTED = {"norm": NORM, **dict.fromkeys(("use_idf", "smooth_idf", "sublinear_tf"), FLAG)}
_VOCABULARY = {"vocabulary_": WORDS, "fixed_vocabulary_": FLAG}
_STOP_WORDS = ("_stop_words_id", "stop_words_")
_SCALED = {"n_samples_seen_": COUNT, "scale_": COLUMN}

_SCALERS, _TEXT, _DICTS = "sklearn.preprocessing", "sklearn.feature_extraction.text", "sklearn.feature_extraction"

STEPS: dict[str, StepSchema] = {
    "StandardScaler": StepSchema(
        _SCALERS,
        _COPY | {"with_mean": FLAG, "with_std": FLAG},
        _ROWS | {"n_samples_seen_": COUNT, **dict.fromkeys(("mean_", "var_", "scale_"), optional(COLUMN))},
        _NAMED,
        {
            "mean_ is missing": lambda step: not step.with_mean or step.mean_ is not None,
            "scale_ is missing": lambda step: not step.with_std or step.scale_ is not None,
        },
    ),
    "MinMaxScaler": StepSchema(
        _SCALERS,
        _COPY | {"feature_range": RANGE, "clip": FLAG},
        _ROWS | _SCALED | dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_"), COLUMN),
        _NAMED,
    ),
    "MaxAbsScaler": StepSchema(_SCALERS, _COPY | {"clip": FLAG}, _ROWS | _SCALED | {"max_abs_": COLUMN}, _NAMED),
    "RobustScaler": StepSchema(
        _SCALERS,
        _COPY | {"quantile_range": RANGE, **dict.fromkeys(("with_centering", "with_scaling", "unit_variance"), FLAG)},
        _ROWS | {"center_": optional(COLUMN), "scale_": optional(COLUMN)},
        _NAMED,
        {
            "center_ is missing": lambda step: not step.with_centering or step.center_ is not None,
            "scale_ is missing": lambda step: not step.with_scaling or step.scale_ is not None,
        },
    ),
    "Normalizer": StepSchema(_SCALERS, _COPY | {"norm": one_of("l1", "l2", "max")}, _ROWS, _NAMED),
    "OneHotEncoder": StepSchema(
        _SCALERS,
        {
            "categories": of(Literal["auto"] | list[Any], "'auto' or a list of categories"),
            "drop": one_of(None, "first", "if_binary"),
            "sparse_output": FLAG,
            "dtype": NUMPY_TYPE,
            "handle_unknown": one_of("error", "ignore", "infrequent_if_exist", "warn"),
            "min_frequency": NO_GROUPS,
            "max_categories": NO_GROUPS,
            "feature_name_combiner": one_of("concat", because=": a file holds no functions"),
        },
        _ROWS
        | {
            "categories_": CATEGORIES,
            "drop_idx_": optional(DROPPED),
            "_drop_idx_after_grouping": optional(DROPPED),
            "_n_features_outs": of(list[int], "a list of numbers of columns"),
            "_infrequent_enabled": one_of(False),
        },
        _NAMED,
        {
            "drop_idx_ are not places in categories_": lambda step: _are_dropped(step, step.drop_idx_),
            "drop_idx_ comes in two versions": lambda step: (
                _as_list(step.drop_idx_) == _as_list(step._drop_idx_after_grouping)
            ),
            "_n_features_outs are not those of categories_": lambda step: step._n_features_outs == _widths(step),
        },
    ),
    "SimpleImputer": StepSchema(
        "sklearn.impute",
        _COPY
        | dict.fromkeys(("add_indicator", "keep_empty_features"), FLAG)
        | {"missing_values": SCALAR, "fill_value": SCALAR}
        | {"strategy": one_of("mean", "median", "most_frequent", "constant", because=": a file holds no functions")},
        _ROWS | {"statistics_": VALUES, "indicator_": optional(part("MissingIndicator")), "_fit_dtype": DTYPE},
        _NAMED | {"_fill_dtype": DTYPE},
        {
            "indicator_ is of other features": lambda step: (
                step.indicator_ is None or step.indicator_.n_features_in_ == step.n_features_in_
            )
        },
    ),
    "MissingIndicator": StepSchema(
        "sklearn.impute",
        {
            "missing_values": SCALAR,
            "features": one_of("missing-only", "all"),
            "sparse": one_of("auto", True, False),
            "error_on_new": FLAG,
        },
        _ROWS | {"features_": INDICES, "_n_features": whole(1), "_precomputed": FLAG},
        _NAMED,
        {"_n_features is another number": lambda step: step._n_features == step.n_features_in_},
    ),
    "FeatureHasher": StepSchema(_DICTS, _HASHED | {"input_type": one_of("dict", "pair", "string")}, {}, _NAMED),
    "DictVectorizer": StepSchema(
        _DICTS,
        {"dtype": NUMPY_TYPE, "separator": TEXT, "sparse": FLAG, "sort": FLAG},
        {"vocabulary_": WORDS, "feature_names_": WORD_LIST},
        _NAMED,
        {"feature_names_ are not vocabulary_": lambda step: step.feature_names_ == [*step.vocabulary_]},
    ),
    "HashingVectorizer": StepSchema(_TEXT, _TEXTS | _HASHED | {"norm": NORM}, {}, _NAMED, derived=_STOP_WORDS),
    "CountVectorizer": StepSchema(_TEXT, _COUNTED, _VOCABULARY, _NAMED, derived=_STOP_WORDS),
    "TfidfVectorizer": StepSchema(
        _TEXT,
        _COUNTED | _WEIGHTED,
        _VOCABULARY | {"_tfidf": part("TfidfTransformer")},
        _NAMED,
        {
            "idf_ is not of vocabulary_": lambda step: (
                getattr(step._tfidf, "n_features_in_", None) == len(step.vocabulary_)
            )
        },
        _STOP_WORDS,
    ),
    "TfidfTransformer": StepSchema(
        _TEXT,
        _WEIGHTED,
        _ROWS,
        _NAMED | {"idf_": COLUMN},
        {"idf_ is missing": lambda step: not step.use_idf or "idf_" in vars(step)},
    ),
}


def _as_list(places: Any) -> Any:
    return None if places is None else places.tolist()


def _are_dropped(step: Any, places: Any) -> bool:
    return places is None or all(
        place is None or place < values.size for place, values in zip(places, step.categories_, strict=True)
    )


def _widths(step: Any) -> list[int]:
    dropped = [None] * len(step.categories_) if step.drop_idx_ is None else step.drop_idx_
    return [values.size - (place is not None) for values, place in zip(step.categories_, dropped, strict=True)]


# --------------------------------------------------------------------------------------------------- there and back


def find(name: str) -> Any:
    """Return the class of a name; None if the table does not have it."""
    return getattr(import_module(STEPS[name].module), name) if name in STEPS else None


def take_apart(step: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the attributes of a step, as a file holds them; raise a `Fault` if it cannot."""
    cls, name = type(step), type(step).__name__
    kinds, default = STEPS[name], cls().get_params(deep=False)
    parameters = {}
    for key, value in sorted(step.get_params(deep=False).items()):
        if key in kinds.parameters:
            parameters[key] = kinds.parameters[key].write(value)
        else:
            expect(value is default[key], f"{key}={short_repr(value)} cannot be stored. Leave it out")
    attributes = {}
    for key, value in vars(step).items():
        kind = kinds.fitted.get(key) or kinds.at_times.get(key)
        if kind is not None:
            attributes[key] = kind.write(value)
        else:
            expect(key in {*default, *kinds.derived, *CALLBACKS}, f"it has {key:.60}, which is not stored. Remove that")
    put_together(name, parameters, attributes)
    return parameters, attributes


def put_together(name: str, parameters: Any, attributes: Any) -> Any:
    """Return the step of a class that is made of these parts; raise a `Fault` if they are not sound."""
    kinds, cls = STEPS[name], find(name)
    expect(isinstance(parameters, dict) and isinstance(attributes, dict), f"{name} has no parameters or attributes")
    known = cls().get_params(deep=False)
    for key in parameters:
        expect(key in kinds.parameters and key in known, f"{key!r:.60} is not a parameter of this {name}")
    count = attributes.get("n_features_in_", 0)
    expect(is_integer(count), f"n_features_in_={short_repr(count)} is not a number of features")
    step = cls(**{key: _read(kinds.parameters[key], key, value, count) for key, value in parameters.items()})
    for key, value in attributes.items():
        kind = kinds.fitted.get(key) or kinds.at_times.get(key)
        if kind is None:
            raise Fault(f"it has {key!r:.60}, which {name} does not have")
        setattr(step, key, _read(kind, key, value, count))
    if attributes.keys() - {"_sklearn_output_config"}:
        missing = sorted(kinds.fitted.keys() - attributes.keys())
        expect(not missing, f"it has no {', '.join(missing)}, as after a fit that failed. Fit it again")
        for fault, holds in kinds.laws.items():
            expect(holds(step), f"{fault}. Fit it again")
    return step


def _read(kind: Kind, name: str, stored: Any, count: Any) -> Any:
    expect(kind.fits(stored, count), f"{name}={short_repr(stored)} cannot be stored: it must be {kind.wanted}")
    return kind.read(stored)
