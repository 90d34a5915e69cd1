"""Texts and tables as sparse rows, by hashing: `TextHasher` and `TableHasher`, as the command line reads files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrices import as_dense, sp
from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import TEXT_FIELD, Piece, assemble, to_bytes, word_pieces
from rosenblatt.files.options import COUNTS, KINDS, MOST_BITS, Column, FeatureOptions, Reading, as_crosses
from rosenblatt.files.tables import category_piece, check_crosses, joined_texts, kind_of, number_piece
from rosenblatt.learners.base import Estimator
from rosenblatt.learners.contract import ClassNamePrefixFeaturesOutMixin, TransformerMixin, check_is_fitted
from rosenblatt.learners.parameters import choice, custom, flag, integer
from rosenblatt.storage.registry import expect
from rosenblatt.text import listed

Array = npt.NDArray[Any]

TEXT_FEATURES = ("number", "category", "text", "skip")


class _Hasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, auto_wrap_output_keys=None):
    """A transformer to sparse rows, with the parameters of everything that is hashed.

    scikit-learn would wrap the rows in a data frame where its settings ask for one, and fail, as they are sparse.
    """

    bits: int = integer(
        default=18, text="There are 2^bits columns.", least=1, wanted=f"a whole number from 1 to {MOST_BITS}"
    )
    words: tuple[int, int] | None = custom(
        default=(1, 1), text="Shortest and longest n-grams of words; None for none.", kind="(int, int) or None"
    )
    letters: tuple[int, int] | None = custom(
        default=None,
        text="Shortest and longest n-grams of characters, within a word and the space on either side of it.",
        kind="(int, int) or None",
    )
    lowercase: bool = flag(default=True, text="Whether upper and lower case count as the same.")
    counts: Literal["binary", "count", "log"] = choice(
        default="log", text="The value of a word that occurs c times: 1, c, or 1 + ln c.", choices=COUNTS
    )

    cross: str | Sequence[Any] | None = custom(
        default=None,
        text='Columns whose features are multiplied with each other, such as "user*ad", or a list of them; those of '
        'texts alone are "text*text".',
        kind="str, list of str, or None",
    )

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return self._options().n_columns

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container of the rows: there is the CSR matrix only.

        Parameters
        ----------
        transform : {"default"} or None
            A data frame, which `set_output` of a pipeline may ask of all steps, cannot hold 2^bits columns.

        Returns
        -------
        self
        """
        if transform not in (None, "default"):
            raise InvalidInput(
                f"transform={transform!r} asks for a data frame, but the rows of {type(self).__name__} are sparse, with"
                f" 2^{self.bits} columns. Use transform='default'."
            )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        tags.input_tags.string = True
        return tags

    def _reading(self, label_type: str) -> Reading | None:
        """Return how the command line reads files to get the same rows; None if it cannot."""
        raise NotImplementedError

    def _options(self) -> FeatureOptions:
        self._check_parameters()
        return FeatureOptions(
            bits=self.bits,
            words=self.words,
            letters=self.letters,
            lowercase=bool(self.lowercase),
            counts=self.counts,
            cross=as_crosses(self.cross),
        )


def _as_matrix(pieces: list[Piece], options: FeatureOptions, normalise: bool, n_rows: int) -> Any:
    return sp.csr_matrix(tuple(assemble(pieces, options, normalise)), shape=(n_rows, options.n_columns))


def _texts_of(X: Any) -> Iterable[Any]:
    """Return the texts of X: those of its only column, if it has columns."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is not None and len(names) == 1:
        return np.asarray(X[names[0]], np.object_).ravel().tolist()
    if names is not None:
        found = f"the columns {listed(names)}" if len(names) else "no column"
        raise InvalidInput(f"X has {found}, and texts are one. Pass one column; TableHasher takes several.")
    if isinstance(X, str | bytes | bytearray):
        raise InvalidInput("X is one text. Pass a list of texts.")
    if isinstance(X, Mapping | Set) or not isinstance(X, Iterable):
        raise InvalidInput(f"X is of type {type(X).__name__}. Pass a list of texts.")
    shape = getattr(X, "shape", None)
    if shape is None:
        return X
    if sp.issparse(X) or len(shape) not in (1, 2) or shape[1:] not in ((), (1,)):
        raise InvalidInput(f"X has shape {shape}, and texts are one column. Pass a list of texts.")
    return np.asarray(X, np.object_).ravel().tolist()


def _as_bytes(text: Any, row: int) -> bytes:
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return to_bytes(text)
    if text is None or type(text).__name__ == "NAType" or (isinstance(text, float) and np.isnan(text)):
        raise InvalidInput(f"X has no text in row {row}, but {text!r}. Fill it in, or pass an empty text.")
    raise InvalidInput(f"X has {text!r:.60} in row {row}, which is not text. Pass a list of texts.")


class TextHasher(_Hasher, auto_wrap_output_keys=None):
    """Texts as sparse rows: words are hashed into columns, without a vocabulary.

    The column of a word is its MurmurHash3 modulo 2^bits. The same texts in a file of ``label<TAB>text`` give the same
    rows to the command line.

    Parameters
    ----------
    {parameters}

    See Also
    --------
    TableHasher : For columns of numbers, categories and texts.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron, TextHasher
    >>> from sklearn.pipeline import make_pipeline
    >>> texts, labels = ["win money now", "see you at noon", "money for you"], ["spam", "ham", "spam"]
    >>> make_pipeline(TextHasher(), AveragedPerceptron()).fit(texts, labels).predict(["money"]).tolist()
    ['spam']
    """

    normalise: bool = flag(default=True, text="Whether rows are divided by their Euclidean length.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        return tags

    def _options(self) -> FeatureOptions:
        options = super()._options()
        check_crosses(options.cross, {TEXT_FIELD: "text"})
        return options

    def _reading(self, label_type: str) -> Reading:
        return Reading("text", self._options(), label_type, normalise=bool(self.normalise))

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self
        """
        self._options()
        return self

    def transform(self, X: Iterable[str | bytes]) -> Any:
        """Return the rows of some texts.

        Parameters
        ----------
        X : iterable of str or bytes, or data frame of one column
            Bytes are UTF-8.

        Returns
        -------
        CSR matrix of float64, of shape (n_samples, 2^bits)
        """
        options = self._options()
        texts = [_as_bytes(text, row) for row, text in enumerate(_texts_of(X))]
        return _as_matrix(word_pieces(options, *joined_texts(texts)), options, bool(self.normalise), len(texts))


class TableHasher(_Hasher, auto_wrap_output_keys=None):
    """Tables of numbers, categories and texts as sparse rows, by hashing names.

    A number is a value in the column of its name; a category the value 1 in the column of name=value; a text its words,
    name=word. Missing values have no entry. A CSV file with a category or text gives the same rows to the command line.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    names_, kinds_ : tuples of str
        Names of the columns, and the type of each: "number", "category", "text" or "skip".

    See Also
    --------
    TextHasher : For texts alone.

    Examples
    --------
    >>> from rosenblatt import TableHasher
    >>> rows = [{"age": 33, "colour": "red"}, {"age": 44.5, "colour": "blue"}]
    >>> TableHasher(bits=10).fit_transform(rows).toarray().sum(axis=1).tolist()
    [34.0, 45.5]
    """

    columns: Mapping[str, str] | None = custom(
        default=None,
        text='Types of columns by name: "number", "category", "text" or "skip"; by default inferred from the values.',
        kind="dict or None",
        accepts=lambda value: value is None or isinstance(value, Mapping),
        wanted="a dict from names of columns to what they are, or None",
    )
    normalise: bool = flag(default=False, text="Whether rows are divided by their Euclidean length.")

    names_: tuple[str, ...]
    kinds_: tuple[str, ...]
    n_features_in_: int
    stored_attributes = ("names_", "kinds_")

    def _check_learned(self) -> None:
        fits = isinstance(self.names_, tuple) and isinstance(self.kinds_, tuple)
        fits = fits and len(self.names_) == len(self.kinds_) == self.n_features_in_
        expect(fits, "names_ and kinds_ are not of one length")
        fits = all(isinstance(name, str) for name in self.names_) and set(self.kinds_) <= set(KINDS)
        expect(fits, "names_ and kinds_ are not names of columns and what they are")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Determine the type of each column.

        Parameters
        ----------
        X : data frame, list of dicts, or array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        options = self._options()
        columns = _columns_of(X)
        chosen = dict(self.columns or {})
        for name, kind in chosen.items():
            if str(name) not in columns or kind not in TEXT_FEATURES:
                known = ", ".join(TEXT_FEATURES)
                raise InvalidInput(f"columns has {name!r}: {kind!r}. Pass names of columns of X with one of {known}.")
        kinds = {name: chosen.get(name) or kind_of(values) for name, values in columns.items()}
        check_crosses(options.cross, kinds)
        self.names_, self.kinds_, self.n_features_in_ = tuple(kinds), tuple(kinds.values()), len(kinds)
        return self

    def _reading(self, label_type: str) -> Reading | None:
        columns = tuple(map(Column, self.names_, self.kinds_))
        reading = Reading(
            "csv", self._options(), label_type, header=True, columns=columns, normalise=bool(self.normalise)
        )
        without_names = self.names_ == tuple(map(str, range(len(self.names_))))
        # The command line does not hash a table of numbers alone.
        return None if without_names or not {"category", "text"} & {*self.kinds_} else reading

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @staticmethod
    def _has_names(X: Any) -> bool:
        return hasattr(X, "columns") or (isinstance(X, list | tuple) and isinstance(X[0], Mapping))

    def transform(self, X: Any) -> Any:
        """Return the rows of a table.

        Parameters
        ----------
        X : data frame, list of dicts, or array-like of shape (n_samples, n_features)
            With the columns of `fit`.

        Returns
        -------
        CSR matrix of float64, of shape (n_samples, 2^bits)
        """
        check_is_fitted(self)
        options = self._options()
        columns = _columns_of(X)
        if len(columns) != self.n_features_in_ and not self._has_names(X):
            raise InvalidInput(
                f"X has {len(columns)} features, but TableHasher is expecting {self.n_features_in_} features as input. "
                "Pass the columns of `fit`."
            )
        n_rows = len(next(iter(columns.values())))
        order = {"number": 0, "category": 1, "text": 1}
        kinds = [pair for pair in zip(self.names_, self.kinds_, strict=True) if pair[1] in order]
        pieces: list[Piece] = []
        for name, kind in sorted(kinds, key=lambda pair: order[pair[1]]):
            values = columns.get(name, [None] * n_rows)
            pieces += _pieces_of(name, kind, values, options)
        if not pieces:
            return sp.csr_matrix((n_rows, options.n_columns))
        return _as_matrix(pieces, options, bool(self.normalise), n_rows)


def _pieces_of(name: str, kind: str, values: Sequence[Any], options: FeatureOptions) -> list[Piece]:
    if kind == "number":
        return [number_piece(name, _numbers(name, values))]
    texts = joined_texts([b"" if value is None else _as_text(value) for value in values])
    if kind == "category":
        return [category_piece(name, *texts)]
    return word_pieces(options, *texts, name)


def _numbers(name: str, values: Sequence[Any]) -> Array:
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in values], np.float64)
    except ValueError as error:
        raise InvalidInput(
            f"Column {name!r} was numeric, but has a value that is not a number ({error}). Correct it, or pass "
            f"columns={{{name!r}: 'category'}}."
        ) from None
    if np.isinf(numbers).any():
        raise InvalidInput(f"Column {name!r} has an infinite value. Remove such rows, or fill them in.")
    return numbers


def _as_text(value: Any) -> bytes:
    if isinstance(value, float):
        return repr(int(value) if value == int(value) else value).encode()
    return value if isinstance(value, bytes) else to_bytes(str(value))


def _plain(value: Any) -> Any:
    """Return a value as a float or a text; None if it is missing."""
    if value is None or isinstance(value, str | bytes):
        return value or None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)
    return None if np.isnan(number) else number


def _columns_of(X: Any) -> dict[str, list[Any]]:
    """Return the columns of a table by name."""
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        found = {str(name): list(map(_plain, np.asarray(X[name], np.object_))) for name in X.columns}
    elif isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        names = dict.fromkeys(str(name) for row in X for name in row)
        found = {name: [_plain(row.get(name)) for row in X] for name in names}
    else:
        rows = np.array(as_dense(X), dtype=np.object_)
        if rows.ndim != 2:
            raise InvalidInput(f"X has shape {rows.shape}. Pass a data frame, a list of dicts, or rows of columns.")
        found = {str(k): list(map(_plain, rows[:, k])) for k in range(rows.shape[1])}
    if not found or not next(iter(found.values())):
        raise InvalidInput("X has no rows or no columns. Pass at least one of each.")
    return found
