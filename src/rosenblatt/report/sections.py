"""The sections of a report: its figures as paragraphs, tables and charts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rosenblatt.markup.charts import (
    legend,
    margin_chart,
    mistakes_chart,
    plane_chart,
    short_number,
    squeeze_chart,
    weights_chart,
)
from rosenblatt.markup.elements import Markup, facts, table, tag
from rosenblatt.markup.records import as_html
from rosenblatt.prover.certificates.describe import picture
from rosenblatt.report.findings import Evaluation, Findings
from rosenblatt.report.models import as_classifier
from rosenblatt.text import count, rounded_down, rounded_up, short_repr

# Classes in a confusion matrix; problems with a chart of weights.
MAX_CLASSES, MAX_PROBLEMS = 12, 6


def section(title: str, *content: Any, long: bool = False) -> Markup:
    """Return a section with its heading."""
    return tag("section", tag("h2", title), *content, class_="long" if long else None)


def sections(found: Findings) -> Iterator[Markup]:
    """Yield the sections of a report in order."""
    yield summary(found)
    yield data(found)
    if found.run is not None:
        yield training(found)
    yield evaluation(found)
    if found.weights is not None and found.weights[0].any():
        yield largest_weights(found)
    yield proof(found)
    if found.diagnosis is not None:
        yield estimates(found)
    if found.theory is not None and found.theory.mistakes:
        yield bound(found)


def heading(found: Findings) -> tuple[str, str]:
    """Return the name of the model, and a line with its parameters that differ from the defaults."""
    model = found.model
    name = type(model).__name__
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    try:
        defaults = type(model)().get_params(deep=False)
    except TypeError:  # parameters without defaults
        defaults = {}
    texts = {key: (short_repr(value), short_repr(defaults.get(key))) for key, value in params.items()}
    changed = ", ".join(f"{key}={value}" for key, (value, default) in texts.items() if value != default)
    steps = [type(step).__name__ for _, step in found.estimator.steps] if hasattr(found.estimator, "steps") else []
    text = f"{name} with {changed}" if changed else f"{name} with its default parameters"
    return name, f"{text}; the last step of {' -> '.join(steps)}" if len(steps) > 1 else text


def summary(found: Findings) -> Markup:
    """Return the figures that matter most."""
    pairs: list[tuple[str, Any]] = [(f"accuracy, {one.name}", f"{one.accuracy:.1%}") for one in found.evaluations]
    if found.run is not None:
        pairs += [("epochs", f"{found.run.epochs:,}"), ("updates", f"{found.run.updates:,}")]
    if found.certificate is not None:
        pairs.append(("the training rows are", found.certificate.verdict))
    reason = "" if found.run is None else found.run.reason
    return section("In short", facts(pairs), tag("p", reason[:1].upper() + reason[1:]) if reason else None)


def data(found: Findings) -> Markup:
    """Return the size of the data, and a chart if the rows are in the plane."""
    n, d = found.rows.shape
    sparse = hasattr(found.rows, "nnz")
    entries = found.rows.nnz if sparse else int(np.count_nonzero(found.rows))
    values = found.rows.data if sparse else np.ravel(found.rows)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    pairs = [
        ("rows", f"{n:,}"),
        ("features", f"{d:,}"),
        ("classes", f"{found.classes.size:,}"),
        ("nonzero", f"{entries / max(n * d, 1):.1%}"),
        ("values", f"{short_number(low)} to {short_number(high)}"),
    ]
    sizes = np.bincount(found.label, minlength=found.classes.size)
    rows = [(name, f"{size:,}", f"{size / n:.1%}") for name, size in zip(found.classes.tolist(), sizes, strict=True)]
    more = (
        f"... and {count(found.classes.size - 2 * MAX_CLASSES, 'more class', 'more classes')}"
        if len(rows) > 2 * MAX_CLASSES
        else None
    )
    listed = table(("<class", "rows", "share"), rows[: 2 * MAX_CLASSES], caption=more)
    drawn = tag("div", plane(found), legend(found.classes.tolist()[:10])) if d == 2 else None
    return section("The data", facts(pairs), tag("div", listed, drawn, class_="row"))


def plane(found: Findings) -> Markup:
    """Return a chart of the rows in the plane, with the boundary or the regions of the model."""
    points = np.asarray(found.rows.toarray() if hasattr(found.rows, "toarray") else found.rows, np.float64)
    seen = as_classifier(found.model, points, found.classes[found.label])
    low, high = points.min(axis=0), points.max(axis=0)
    sample = np.random.default_rng(0).uniform(low, high, (500, 2))
    line = None
    if seen.weights is not None and seen.classes.size == 2 and seen.is_linear(sample):
        line = seen.weights[0][0], float(seen.weights[1][0])
    return plane_chart(points, found.label, found.names, regions=seen.predict, hyperplane=line)


def training(found: Findings) -> Markup:
    """Return the record of the training, and why it stopped."""
    run = found.run
    assert run is not None
    rows = -(-run.trials // max(run.epochs, 1))
    pairs = [
        ("epochs", f"{run.epochs:,}"),
        ("trials", f"{run.trials:,}"),
        ("mistakes", f"{sum(run.mistakes):,}"),
        ("updates", f"{run.updates:,}"),
        ("kept epoch", f"{run.kept:,}"),
        ("seconds", f"{run.seconds:.3g}"),
    ]
    measured = [error for error in run.errors if error is not None]
    key = "Blue: mistakes during each epoch."
    if len(measured) > 1:
        key += " Orange: the error at its end, on the validation rows if there were any."
    notes = [
        tag(
            "p",
            f"On new rows, {one.hypothesis}, err on at most {rounded_up(100 * one.risk, 3)}%, with probability "
            f"{rounded_down(100 * one.confidence, 3)}%: "
            f"for {one.assumption}.",
            class_="note",
        )
        for one in run.guarantees()
        if one.risk < 1
    ]
    return section(
        "The training",
        facts(pairs),
        tag("p", tag("strong", "Why it stopped: "), run.reason),
        mistakes_chart(run.mistakes, run.errors, rows, run.kept),
        tag("p", f"{key} The dashed line marks the epoch whose weights were kept.", class_="note"),
        *notes,
    )


def evaluation(found: Findings) -> Markup:
    """Return the accuracy, the confusions and the margins on the training rows and on held-out rows."""
    rows = [(one.name, f"{one.rows:,}", f"{one.errors:,}", f"{one.accuracy:.2%}") for one in found.evaluations]
    content: list[Any] = [table(("<rows", "count", "errors", "accuracy"), rows)]
    if len(found.evaluations) == 1:
        content.append(tag("p", "No rows were held out, so these figures say little about new rows.", class_="note"))
    for one in found.evaluations:
        content.append(tag("h3", one.name.capitalize()))
        parts = [_confusion(one), _by_class(one)]
        if one.margins is not None and one.margins.size:
            parts.append(tag("div", margin_chart(one.margins), tag("p", "Violet: mistakes.", class_="note")))
        content.append(tag("div", *parts, class_="row"))
    return section("The evaluation", *content, long=True)


def _confusion(one: Evaluation) -> Markup:
    """Return the confusion matrix; with many classes, the most common confusions."""
    labels = one.labels.tolist()
    if len(labels) > MAX_CLASSES:
        wrong = one.counts * (1 - np.eye(len(labels), dtype=int))
        order = np.argsort(-wrong, axis=None, kind="stable")[:MAX_CLASSES]
        places = [divmod(int(k), len(labels)) for k in order if wrong.flat[k]]
        rows = [(labels[i], labels[j], f"{wrong[i, j]:,}") for i, j in places]
        return table(("<class", "<predicted", "rows"), rows, caption="The most common confusions")
    body = []
    for i, label in enumerate(labels):
        kinds = ["hit" if i == j else "miss" if one.counts[i, j] else None for j in range(len(labels))]
        cells = [tag("td", f"{one.counts[i, j]:,}", class_=kinds[j]) for j in range(len(labels))]
        body.append(tag("tr", tag("th", label, scope="row"), *cells))
    head = tag("tr", tag("th", "class", scope="col"), *(tag("th", label, scope="col") for label in labels))
    caption = tag("caption", "True class by row, predicted class by column")
    return tag("div", tag("table", caption, tag("thead", head), tag("tbody", *body)), class_="wide")


def _by_class(one: Evaluation) -> Markup:
    """Return precision and recall of each class."""
    rows = []
    for k, label in enumerate(one.labels.tolist()[: 2 * MAX_CLASSES]):
        own, claimed, hit = one.counts[k].sum(), one.counts[:, k].sum(), one.counts[k, k]
        share = [f"{hit / whole:.1%}" if whole else "-" for whole in (claimed, own)]
        rows.append((label, f"{own:,}", *share))
    return table(("<class", "rows", "precision", "recall"), rows)


def largest_weights(found: Findings) -> Markup:
    """Return the features with the largest weights."""
    weights = found.weights
    assert weights is not None
    coef, intercept = weights
    classes = found.model.classes_.tolist()
    pictures = []
    for k in range(min(len(coef), MAX_PROBLEMS)):
        if len(coef) == 1:
            title = f"Positive for {classes[-1]}, negative for {classes[0]}"
        else:
            title = f"For {classes[k]}" if len(coef) == len(classes) else f"Problem {k + 1}"
        chart = weights_chart(found.names, coef[k], top=12, title=title)
        pictures.append(tag("div", tag("h3", title), chart, tag("p", f"bias {intercept[k]:.4g}", class_="note")))
    more = (
        f"The weights of {count(len(coef) - MAX_PROBLEMS, 'more problem')} are not shown."
        if len(coef) > MAX_PROBLEMS
        else None
    )
    note = "Weights of features on different scales cannot be compared."
    return section(
        "Largest weights",
        tag("div", *pictures, class_="row"),
        tag("p", more, class_="note") if more else None,
        tag("p", note, class_="note"),
        long=True,
    )


def proof(found: Findings) -> Markup:
    """Return whether the training rows are separable, and the proof."""
    certificate = found.certificate
    if certificate is None:
        return section("Separable?", tag("p", found.unproved))
    lines = [tag("p", line) for line in str(certificate).splitlines()]
    lines[0] = tag("p", tag("strong", lines[0]))
    return section(
        "Separable?",
        *lines,
        Markup(picture(certificate)),
        tag("p", f"Rows are numbered from 0. SHA-256 of the data: {certificate.digest}.", class_="note"),
    )


def estimates(found: Findings) -> Markup:
    """Return which coefficients of a logistic regression are finite, and estimates that can be reported."""
    diagnosis = found.diagnosis
    assert diagnosis is not None
    assert diagnosis.table is not None
    summary = diagnosis.certificate.coefficients.summary()
    return section(
        "A logistic regression without a penalty",
        tag("p", summary),
        tag("div", as_html(diagnosis.table.rows), class_="wide"),
        *(tag("p", line, class_="note") for line in diagnosis.table.note.splitlines()),
        tag("p", f"Next: {diagnosis.next_step}"),
        long=True,
    )


def bound(found: Findings) -> Markup:
    """Return the mistakes against their bound, and the quantities of the proof over time."""
    compared = found.theory
    assert compared is not None
    chart = squeeze_chart(compared.updates, compared.alignment, compared.floor, compared.square, compared.cap)
    text = "Orange: length of the weights, at most sqrt(M) R. Blue: their product with a separator, at least M gamma."
    lines = [tag("p", line.strip()) for line in str(compared).splitlines()[1:]]
    pairs = [("mistakes", f"{compared.mistakes:,}"), ("R", rounded_up(compared.radius, 4))]
    if compared.bound is not None and compared.margin is not None:
        pairs += [("gamma", rounded_down(compared.margin.lower, 4)), ("at most", f"{compared.bound:,}")]
    return section("Mistakes against their bound", facts(pairs), chart, tag("p", text, class_="note"), *lines)


def summary_text(found: Findings) -> str:
    """Return the report in a few lines of text."""
    n, d = found.rows.shape
    lines = [
        f"{heading(found)[1]}.",
        f"{count(n, 'row')}, {count(d, 'feature')}, {count(found.classes.size, 'class', 'classes')}.",
    ]
    lines += [
        f"{one.accuracy:.2%} of {one.rows} {one.name} right ({count(one.errors, 'error')})."
        for one in found.evaluations
    ]
    if found.run is not None:
        lines.append(
            f"{count(found.run.epochs, 'epoch')}, {count(found.run.updates, 'update')}. It stopped: {found.run.reason}"
        )
    if found.certificate is not None:
        lines.append(str(found.certificate).splitlines()[0])
    return "\n".join(lines)
