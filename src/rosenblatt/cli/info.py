"""`rosenblatt info`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import click

from rosenblatt.cli.options import (
    INPUT_NAMES,
    Sections,
    input_options,
    is_model,
    json_option,
    option,
    plain,
    print_json,
    refuse_given,
    report_problems,
    take_input,
)
from rosenblatt.cli.output import table

# So many names are looked at, at least, to find those of hashed columns: 2^22.
NAMES_BITS = 22


@click.command(cls=Sections)
@click.argument("path", metavar="FILE")
@option("--top", type=click.IntRange(1), default=20, show_default=True, help="How many of the most telling features.")
@option(
    "--names",
    type=click.Path(),
    metavar="DATA",
    help="A data file with the names of hashed features: hashes cannot be turned back into names.",
)
@json_option
@input_options
def info(path: str, **options: Any) -> None:
    """Describe a model or a data file.

    Of a model: its labels, how it was trained, and its most telling features, those with the largest weights. Of a data
    file: its format, rows, labels and columns.

    \b
    rosenblatt info spam.model --top 20 --names mails.csv
    rosenblatt info mails.csv
    """  # noqa: D301
    top, names, as_json = options.pop("top"), options.pop("names"), options.pop("as_json")
    if is_model(path):
        refuse_given(INPUT_NAMES, f"{path} is a model, which knows how files are read. Leave it out.")
        found = _of_model(path, top, names)
    else:
        refuse_given(("top", "names"), f"{path} is a data file, and features have weights in a model. Leave it out.")
        found = _of_data(path, take_input(options))
    if as_json:
        print_json(found)
    else:
        click.echo(_text(found))


# ------------------------------------------------------------------------------------------------------------ models


def _of_model(path: str, top: int, data: str | None) -> dict[str, Any]:
    from rosenblatt.training.model import load_linear

    model = load_linear(path)
    origin = model.origin or {}
    training = origin.get("training", {})
    found: dict[str, Any] = {
        "file": path,
        "learner": training.get("learner"),
        "labels": [plain(label) for label in model.classes],
        "features": model.W.shape[1],
        "weights": int((model.W != 0).sum()),
        "format": origin.get("reading", {}).get("format"),
        "epochs": training.get("epochs"),
        "rows": training.get("rows"),
        "mistakes": training.get("mistakes"),
        "errors": training.get("errors") or None,
        "reason": training.get("reason"),
        "bias": model.b.tolist(),
    }
    names = _names(model, data)
    found["top"] = _telling(model, names, top)
    return {name: value for name, value in found.items() if value is not None}


def _names(model: Any, data: str | None) -> dict[int, str]:
    """Return the names of columns: those of the model, or those that a data file has for the columns."""
    if model.feature_names:
        return dict(enumerate(model.feature_names))
    if data is None:
        return {}
    from rosenblatt.files.opening import open_source
    from rosenblatt.files.options import Reading

    reading = Reading.from_json((model.origin or {}).get("reading"))
    exact = replace(reading.features, dictionary=True, bits=max(reading.features.bits, NAMES_BITS))
    source = open_source([data], reading=replace(reading, features=exact), labels="optional")
    counts: Counter[int] = Counter()
    for chunk in source:
        counts.update(chunk.table.matrix().indices.tolist())
    found: dict[int, list[tuple[int, str]]] = {}
    for column, name in enumerate(source.names or ()):
        found.setdefault(column_of(name, reading), []).append((-counts[column], name))
    # Names that share a column share its weight; the commonest comes first.
    return {column: " | ".join(name for _, name in sorted(own)[:3]) for column, own in found.items()}


def column_of(name: str, reading: Any) -> int:
    """Return the column that the name of a feature is hashed to (docs/reference/features.md)."""
    from rosenblatt.files.features import LETTER_MARK, LETTER_SEED, murmur

    encoded, seed = name.encode("utf-8", "surrogateescape"), 0
    if reading.format == "vw":
        space, _, encoded = encoded.rpartition(b"^")
        seed = (int(space) if space.isdigit() else murmur(space)) if space else 0
        found = int(encoded) + seed if encoded.isdigit() else murmur(encoded, seed)
        return int(found & (reading.features.n_columns - 1))
    # The longest name of a column that fits: one may be the beginning of another.
    own = [column.name.encode("utf-8", "surrogateescape") for column in reading.columns]
    fitting = [column for column in own if encoded.startswith(column + b"=")]
    if fitting:
        prefix = max(fitting, key=len)
        encoded, seed = encoded[len(prefix) + 1 :], murmur(prefix)
    if encoded.startswith(LETTER_MARK) and reading.features.letters is not None:
        encoded, seed = encoded[len(LETTER_MARK) :], murmur(LETTER_SEED, seed)
    return int(murmur(encoded, seed) & (reading.features.n_columns - 1))


def _telling(model: Any, names: dict[int, str], top: int) -> dict[str, list[list[Any]]]:
    """Return the features with the largest weights, for each label; of two labels, for both sides of one weight."""
    import numpy as np

    labels = [str(plain(label)) for label in model.classes]
    if model.W.shape[0] == 1:
        sides = {labels[1]: model.W[0], labels[0]: -model.W[0]} if len(labels) == 2 else {"weights": model.W[0]}
    elif model.W.shape[0] == len(labels):
        sides = dict(zip(labels, model.W, strict=True))
    else:
        return {}
    found = {}
    for label, weights in sides.items():
        size = min(top, int((weights > 0).sum()))
        best = np.argsort(-weights, kind="stable")[:size]
        found[label] = [[names.get(int(column), f"column {column}"), float(weights[column])] for column in best]
    return found


# -------------------------------------------------------------------------------------------------------- data files


def _of_data(path: str, opening: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    from rosenblatt.files.features import estimate_collisions
    from rosenblatt.files.opening import open_source

    source = open_source([path], **({"labels": "optional"} | opening))
    labels: Counter[Any] = Counter()
    rows = entries = 0
    for chunk in source:
        rows, entries = rows + chunk.label.size, entries + chunk.table.entries
        known = chunk.label[~np.isnan(chunk.label)] if chunk.label.dtype.kind == "f" else chunk.label
        labels.update(known.tolist())
    report_problems(source, quiet=False)
    reading = source.reading
    found: dict[str, Any] = {"file": path, "format": reading.format, "rows": rows, "entries": entries}
    if len(labels) <= 100:
        found["label_counts"] = {str(plain(label)): count for label, count in sorted(labels.items())}
    else:
        found["labels"] = f"{len(labels)} different ones"
    if reading.columns:
        found["columns"] = [[column.name, column.kind] for column in reading.columns]
    used = source.columns_used() or source.n_features
    found["features"] = used
    if source.names is None and reading.format != "svmlight":
        found["collisions"] = estimate_collisions(used, source.n_features).collided
    return found


# -------------------------------------------------------------------------------------------------------------- text


def _text(found: dict[str, Any]) -> str:
    lines = []
    for name, value in found.items():
        if name in ("top", "label_counts", "columns"):
            continue
        shown = ", ".join(map(_short, value)) if isinstance(value, list) else _short(value)
        lines.append(f"{name.replace('_', ' '):<12}{shown}")
    if found.get("label_counts"):
        lines += ["", table(("label", "rows"), list(found["label_counts"].items()))]
    if found.get("columns"):
        lines += ["", table(("column", "kind"), found["columns"])]
    for label, features in found.get("top", {}).items():
        rows = [(name, f"{weight:.4g}") for name, weight in features]
        lines += ["", table((f"for {label}" if label != "weights" else "feature", "weight"), rows)]
    return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
