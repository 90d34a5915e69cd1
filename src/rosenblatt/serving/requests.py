"""What clients send. These declarations are the checks, and /openapi.json is made from them."""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from rosenblatt.serving.problems import Problem

MAX_LABEL = 1_000  # characters
MAX_KEY = 200
NDJSON, ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"
# Lines in the format of the model, which have the labels to learn.
LINES = {"text/plain": "", "text/csv": "csv", "application/x-svmlight": "svmlight", "application/x-vw": "vw"}

# A row by the model's own reading: numbers, names with values, or a text or a line of its format.
X = list[Any] | dict[str, Any] | str
Label = Annotated[str, Meta(max_length=MAX_LABEL)] | int | float | bool
Id = Annotated[str, Meta(min_length=1, max_length=MAX_KEY)] | int
Weight = Annotated[float, Meta(ge=0)]


class RowToLearn(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A row with its label, or with its number in a regression."""

    x: X
    y: Label
    weight: Weight = 1.0


class RowToPredict(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A row. One with an id is kept until its label comes."""

    x: X
    id: Id | None = None


class LateLabel(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The label of a row that was predicted with an id before."""

    id: Id
    y: Label
    weight: Weight = 1.0


class RowToExplain(Struct, forbid_unknown_fields=True):
    """A row, and how many contributions to list."""

    x: X
    top: Annotated[int, Meta(ge=0)] | None = 10


class RollbackTo(Struct, forbid_unknown_fields=True):
    """The snapshot to return to, by its sequence number."""

    snapshot: Annotated[int, Meta(ge=0)]


class NewModel(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A model to create. Whatever is left out follows from the first rows that it learns.

    Attributes
    ----------
    learner : name for `rosenblatt train --learner`
    parameters : its parameters by name
    format : what a row is: "numbers" in a list, or by names; "jsonl", an object of numbers and texts; "text"; or a line
        of "svmlight", "vw" or "csv"
    columns : kinds of columns by name: "number", "category", "text", "date", "skip", "label" or "weight"
    labels : "text" or "number"
    """

    learner: str = "arow"
    parameters: dict[str, Any] = {}
    format: str = "auto"
    columns: dict[str, str] = {}
    labels: str = "auto"
    bits: Annotated[int, Meta(ge=1, le=24)] = 18
    dictionary: bool = False
    words: tuple[int, int] | None = (1, 1)
    letters: tuple[int, int] | None = None
    lowercase: bool = True
    counts: str = "log"
    normalise: bool | None = None
    standardise: bool | None = None
    cross: list[str] = []


class Tensor(Struct):
    """A tensor of the Open Inference Protocol."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]


class InferenceRequest(Struct):
    """A request of the Open Inference Protocol; parameters and wanted outputs have no meaning here."""

    inputs: list[Tensor]
    id: str | None = None


def decoded(body: bytes, kind: Any) -> Any:
    """Return the value of a type in JSON; raise a `Problem` that names the place of the fault."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        fault, _, place = str(error).partition(" - at ")
        raise Problem("invalid-row", f"{fault}.", place=place.strip("`") or "$") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem("not-json", f"The body is not JSON ({error}). Send JSON in UTF-8.") from None


def rows_in(body: bytes, media: str, kind: Any) -> list[Any]:
    """Return the rows of a body of JSON, an object or a list of them, or of lines of JSON."""
    if media == NDJSON:
        lines = [(number, line) for number, line in enumerate(body.split(b"\n")) if line.strip()]
        rows = []
        for number, line in lines:
            try:
                rows.append(decoded(line, kind))
            except Problem as problem:
                place = problem.more.get("place", "$")
                raise Problem(problem.kind, problem.detail, place=f"line {number + 1}, {place}") from None
    elif media in ("application/json", ""):
        found = decoded(body, list[kind] | kind)
        rows = found if isinstance(found, list) else [found]
    else:
        known = ", ".join(("application/json", NDJSON, ARROW, *LINES))
        curl = " With curl: --json instead of -d." if media == "application/x-www-form-urlencoded" else ""
        raise Problem("unknown-media-type", f"{media} is not understood here. Send one of {known}.{curl}")
    for number, row in enumerate(rows):
        for value in (getattr(row, "y", None), getattr(row, "weight", None)):
            if isinstance(value, float) and not math.isfinite(value):
                raise Problem("invalid-row", f"{value} is not finite.", place=f"$[{number}]")
    return rows


# ------------------------------------------------------------------------------------------------------------- Arrow


def arrow_rows(body: bytes, label: str | None) -> list[RowToLearn] | list[RowToPredict]:
    """Return the rows of an Arrow stream as objects: to learn if `label` names a column, else to predict.

    Columns are of numbers, booleans and texts; one called weight has the weights of rows to learn. Other types are
    refused: a short stream of them can stand for rows of any size. So are compressed ones.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise Problem("unknown-media-type", 'Arrow needs pyarrow: pip install "rosenblatt[files]".') from None
    try:
        for message in pa.ipc.MessageReader.open_stream(body):
            if message.type.startswith(("record", "dictionary")) and _is_compressed(message.metadata.to_pybytes()):
                raise Problem("invalid-row", "The Arrow stream is compressed. Send it without compression.")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Problem("invalid-row", f"The body is not an Arrow stream ({str(error)[:200]}).") from None
    try:
        with pa.ipc.open_stream(body) as stream:
            for field in stream.schema:
                if not _is_plain(pa.types, field.type):
                    raise Problem(
                        "invalid-row", f"Column {field.name} is of type {field.type}. Cast it to numbers or strings."
                    )
            table = stream.read_all()
            table.validate(full=True)
            rows: list[dict[str, Any]] = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        raise Problem("invalid-row", f"The body is not an Arrow stream ({str(error)[:200]}).") from None
    names = table.column_names
    if len(set(names)) < len(names):
        raise Problem("invalid-row", "Two columns have the same name. Rename one.")
    if label is None:
        return [RowToPredict(_plain(row)) for row in rows]
    if label not in names:
        raise Problem("invalid-row", f"There is no column {label} with the labels. Name it with ?label=.")
    found = []
    for number, row in enumerate(rows):
        y, weight = row.pop(label), row.pop("weight", None)
        if y is None or (isinstance(y, float) and not math.isfinite(y)):
            raise Problem("invalid-row", "The label is missing.", place=f"$[{number}]")
        weight = 1.0 if weight is None else weight
        if not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise Problem("invalid-row", f"The weight {weight!r:.60} is not a number from 0.", place=f"$[{number}]")
        found.append(RowToLearn(_plain(row), y, float(weight)))
    return found


def _is_plain(types: Any, kind: Any) -> bool:
    """Return whether the values of a type are numbers, booleans or texts, each with bytes of its own."""
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    return any(test(kind) for test in (*tests, types.is_null))


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without missing values; raise a `Problem` for infinite ones, which JSON does not have either."""
    for name, value in row.items():
        if isinstance(value, float) and math.isinf(value):
            raise Problem("invalid-row", f"{name!r} is infinite. Leave such rows out.")
    return {name: value for name, value in row.items() if value is not None and value == value}


def _is_compressed(metadata: bytes) -> bool:
    """Return whether the buffers of a record batch are compressed, by the tables of its flatbuffer."""

    def number(at: int, size: int) -> int:
        if not 0 <= at <= len(metadata) - size:
            raise ValueError("its metadata is damaged")
        return int.from_bytes(metadata[at : at + size], "little", signed=size == 4)

    def field(table: int, index: int) -> int:
        """Return where a field of a table is; 0 if the table does not have it."""
        declared = table - number(table, 4)
        offset = number(declared + 4 + 2 * index, 2) if 4 + 2 * index < number(declared, 2) else 0
        return table + offset if offset else 0

    message = number(0, 4)
    kind, header = field(message, 1), field(message, 2)
    batch = header + number(header, 4)
    if number(kind, 1) == 2:  # a dictionary, whose values are a record batch
        data = field(batch, 1)
        batch = data + number(data, 4)
    return field(batch, 3) != 0
