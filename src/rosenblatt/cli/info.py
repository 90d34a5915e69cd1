"""`rosenblatt info`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import click
import numpy as np

from rosenblatt.cli.options import (
    INPUT_NAMES,
    MOST_NAMES_BITS,
    Sections,
    input_options,
    is_model,
    json_option,
    option,
    plain,
    print_json,
    reject_options,
    report_problems,
    take_input,
)
from rosenblatt.cli.output import table
from rosenblatt.files.features import estimate_collisions
from rosenblatt.files.names import NameTable, column_name
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import Reading
from rosenblatt.training.model import load_linear


@click.command(cls=Sections)
@click.argument("path", metavar="FILE")
@option(
    "--top",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Number of features with the largest weights to show.",
)
@option(
    "--names",
    type=click.Path(),
    metavar="DATA",
    help="Data file in which to look up the names of hashed features, instead of those that the model has kept.",
)
@json_option
@input_options
def info(path: str, **options: Any) -> None:
    """Describe a model or a data file.

    For a model: its labels, its training, and the features with the largest weights. For a data file: its format, rows,
    labels and columns.

    \b
    rosenblatt info spam.model --top 20 --names mails.csv
    rosenblatt info mails.csv
    """  # noqa: D301
    top, names, as_json = options.pop("top"), options.pop("names"), options.pop("as_json")
    if is_model(path):
        reject_options(INPUT_NAMES, f"{path} is a model, not a data file. Leave it out.")
        facts = _of_model(path, top, names)
    else:
        reject_options(("top", "names"), f"{path} is a data file, not a model with weights. Leave it out.")
        facts = _of_data(path, take_input(options))
    if as_json:
        print_json(facts)
    else:
        click.echo(_text(facts))


# ------------------------------------------------------------------------------------------------------------ models


def _of_model(path: str, top: int, data: str | None) -> dict[str, Any]:
    model = load_linear(path)
    origin = model.origin or {}
    training = origin.get("training", {})
    facts: dict[str, Any] = {
        "file": path,
        "learner": training.get("learner"),
        "labels": [plain(label) for label in model.classes],
        "features": model.W.shape[1],
        "weights": sum(int(np.count_nonzero(row)) for row in model.W),  # by rows: sparse weights stay so
        "format": origin.get("reading", {}).get("format"),
        "epochs": training.get("epochs"),
        "rows": training.get("rows"),
        "mistakes": training.get("mistakes"),
        "errors": training.get("errors") or None,
        "reason": training.get("reason"),
        "bias": model.b.tolist(),
        "probability": _probabilities(model),
    }
    name_of = model.name_of() if data is None or model.feature_names else _names_in(model, data)
    facts["top"] = _top_features(model, name_of, top)
    return {name: value for name, value in facts.items() if value is not None}


def _probabilities(model: Any) -> str | None:
    """Return where probabilities come from; None if the model has none."""
    if model.sigmoids is None:
        return None
    calibrated = (model.origin or {}).get("calibration") is not None
    return "calibrated on held-out rows" if calibrated else "by the logistic loss"


def _names_in(model: Any, data: str) -> Callable[[int], str]:
    """Return a function from columns to the names in a data file that are hashed to them."""
    reading = Reading.from_json((model.origin or {}).get("reading"))
    found = NameTable(1 << MOST_NAMES_BITS)
    for chunk in open_source([data], reading=reading, labels="optional", named=True):
        found.add(chunk.named)
    names = found.commonest()
    return lambda column: names.get(column) or column_name(reading, column)


def _top_features(model: Any, name_of: Callable[[int], str], top: int) -> dict[str, list[list[Any]]]:
    """Return the features with the largest weights for each label; two labels share one weight vector."""
    labels = [str(plain(label)) for label in model.classes]
    if model.W.shape[0] == 1:
        sides = [(labels[1], 0, 1), (labels[0], 0, -1)] if len(labels) == 2 else [("weights", 0, 1)]
    elif model.W.shape[0] == len(labels):
        sides = [(label, problem, 1) for problem, label in enumerate(labels)]
    else:
        return {}
    features = {}
    for label, problem, sign in sides:
        weights = sign * model.W[problem]  # one dense row at a time: sparse weights stay so
        positive = np.flatnonzero(weights > 0)
        best = positive[np.argsort(-weights[positive], kind="stable")[:top]]
        features[label] = [[name_of(int(column)), float(weights[column])] for column in best]
    return features


# -------------------------------------------------------------------------------------------------------- data files


def _of_data(path: str, opening: dict[str, Any]) -> dict[str, Any]:
    source = open_source([path], **({"labels": "optional"} | opening))
    labels: Counter[Any] = Counter()
    rows = entries = 0
    for chunk in source:
        rows, entries = rows + chunk.label.size, entries + chunk.table.entries
        present = chunk.label[~np.isnan(chunk.label)] if chunk.label.dtype.kind == "f" else chunk.label
        labels.update(present.tolist())
    report_problems(source, quiet=False)
    reading = source.reading
    facts: dict[str, Any] = {"file": path, "format": reading.format, "rows": rows, "entries": entries}
    if len(labels) <= 100:
        facts["label_counts"] = {str(plain(label)): count for label, count in sorted(labels.items())}
    else:
        facts["labels"] = f"{len(labels)} different ones"
    if reading.columns:
        facts["columns"] = [[column.name, column.kind] for column in reading.columns]
    used = source.columns_used() or source.n_features
    facts["features"] = used
    if source.names is None and reading.format != "svmlight":
        facts["collisions"] = estimate_collisions(used, source.n_features).collided
    return facts


# -------------------------------------------------------------------------------------------------------------- text


def _text(facts: dict[str, Any]) -> str:
    lines = []
    for name, value in facts.items():
        if name in ("top", "label_counts", "columns"):
            continue
        shown = ", ".join(map(_short, value)) if isinstance(value, list) else _short(value)
        lines.append(f"{name.replace('_', ' '):<12}{shown}")
    if facts.get("label_counts"):
        lines += ["", table(("label", "rows"), list(facts["label_counts"].items()))]
    if facts.get("columns"):
        lines += ["", table(("column", "kind"), facts["columns"])]
    for label, features in facts.get("top", {}).items():
        rows = [(name, f"{weight:.4g}") for name, weight in features]
        lines += ["", table((f"for {label}" if label != "weights" else "feature", "weight"), rows)]
    return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
