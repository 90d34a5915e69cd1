"""Certificates in words and in HTML, and the table of coefficients of a logistic regression."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from rosenblatt.markup import records
from rosenblatt.markup.charts import sideways_bars
from rosenblatt.markup.palette import CLASSES
from rosenblatt.text import SHOWN_ITEMS, between, rounded_down, rounded_up

if TYPE_CHECKING:
    from rosenblatt.prover.certificates.certificate import Certificate

# What the rows of a design have, unless that is labels; and the models of each response.
RESPONSES = {"counts": "count", "shares": "share", "pairs": "pair", "ordered": "ordered response"}
MODELS = {"counts": "Poisson regression", "ordered": "regression on ordered classes"}
# The reason in a certificate begins with this if there was no time for the table of coefficients.
NO_ESTIMATES = "Which coefficients have finite estimates was not determined"


def describe(certificate: Certificate) -> str:
    """Describe a proof in a few sentences."""
    lines = [describe_proof(certificate)]
    if certificate.verdict == "undecided":
        return f"{lines[0]} {certificate.reason}".rstrip()
    if certificate.estimates and certificate.names:
        lines.append(_describe_estimates(certificate))
    if certificate.reason:
        lines.append(certificate.reason)
    return "\n".join(lines)


def describe_proof(certificate: Certificate) -> str:
    """Describe the verdict, what proves it, and the margins."""
    lines = [f"{_describe_data(certificate)}: {_describe_verdict(certificate)}."]
    if certificate.support:
        lines.append(_describe_support(certificate))
    if certificate.vector is not None:
        lines.append(_describe_separator(certificate))
    return "\n".join([*lines, *_describe_margins(certificate)])


def _describe_data(certificate: Certificate) -> str:
    n, d = certificate.shape
    response = RESPONSES.get(certificate.response)
    samples = counted(len(set(certificate.rows or range(n))), response) if response else counted(n, "sample")
    model = "" if certificate.intercept else ", no intercept"
    reading = ", read as decimals" if certificate.arithmetic == "decimal" else ""
    return f"{samples}, {counted(d, 'feature')}{model}{reading}"


def _describe_verdict(certificate: Certificate) -> str:
    """Name the verdict in the words of statistics, then in those of geometry, which labels have."""
    if certificate.response != "labels":
        return certificate.separation
    weak = (
        "some hyperplane has no row on its wrong side"
        if len(certificate.classes) == 2
        else "some weights give no row a higher score for another class"
    )
    geometry = {
        "separable": " (linearly separable)",
        "quasi-separable": f" (not linearly separable, but {weak})",
        "overlapping": " (not linearly separable)",
    }
    return certificate.separation + geometry.get(certificate.verdict, "")


def as_html(certificate: Certificate) -> str:
    """Return the description as HTML, with a picture of the witness, and the table of coefficients if there is one."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in describe(certificate).splitlines())
    return lines + picture(certificate) + (certificate.coefficients._repr_html_() if certificate.estimates else "")


def picture(certificate: Certificate) -> str:
    """Return the witness as bars: the weights of a separator, or the shares of the rows that meet; empty without one.

    The certificate does not hold the data, so there are no points to draw.
    """
    if len(certificate.classes) != 2:
        return ""
    if certificate.support:
        sides = [shares(certificate, rival) for rival in (0, 1)]
        # Rows with rival 0 are of class 1, and vice versa.
        rows = [(f"row {i}", float(share), CLASSES[1 - rival]) for rival, side in enumerate(sides) for i, share in side]
        title = "Shares of the rows whose means meet"
    elif certificate.vector is not None:
        names = certificate.names or tuple(f"w{j}" for j in range(certificate.shape[1]))
        weights = [float(Fraction(v)) for v in certificate.vector[:-1]]
        rows = [(name, v, CLASSES[int(v > 0)]) for name, v in zip(names, weights, strict=True) if v]
        title = "Weights of the separator"
    else:
        return ""
    rows = sorted(rows, key=lambda row: -abs(row[1]))[: 2 * SHOWN_ITEMS]
    if not rows:
        return ""
    labels, values, colours = zip(*rows, strict=True)
    return sideways_bars(labels, values, title, colours)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun; numbers from 10**12 are rounded up."""
    shown = f"{number:,}" if number < 10**12 else rounded_up(number, 3)
    return f"{shown} {noun}{'' if number == 1 else 's'}"


def some(parts: Iterable[str], joint: str = ", ") -> str:
    """Return the first few parts joined, and how many more there are."""
    parts = list(parts)
    rest = len(parts) - SHOWN_ITEMS
    return joint.join(parts[:SHOWN_ITEMS]) + (f"{joint}... ({rest} more)" if rest > 0 else "")


def _share(share: Fraction) -> str:
    """Return a weight as text: a fraction if it is short, else rounded."""
    if share == 1:
        return ""
    return f"{share} " if share.denominator <= 1000 else f"{float(share):.4g} "


def _describe_support(certificate: Certificate) -> str:
    """Describe where the hulls meet, or which signed rows cancel."""
    if len(certificate.classes) > 2:
        these, total = _these(len(set(certificate.support))), sum(certificate.multipliers)
        terms = zip(map(certificate.row, certificate.support), certificate.rivals, certificate.multipliers, strict=True)
        shares = some(f"{_share(Fraction(m, total))}(row {i} against {certificate.classes[r]!r})" for i, r, m in terms)
        return f"{these}. No weights score all of them right, since their differences cancel: {shares}."
    if certificate.response != "labels":
        rows = dict.fromkeys(map(certificate.row, certificate.support))
        return f"{_these(len(rows))}, as what pulls their scores up and down cancels: {some(map(str, rows))}."
    where = f". The hulls of the two classes meet at ({some(f'{v:.6g}' for v in certificate.point)})"
    return f"{_these(len(certificate.support))}: {_describe_meeting(certificate)}{where if certificate.point else ''}."


def _these(number: int) -> str:
    return "This row proves it" if number == 1 else f"These {counted(number, 'row')} prove it"


def _describe_meeting(certificate: Certificate) -> str:
    """Describe the point that is a mean of rows of either class."""
    sides = [shares(certificate, rival) for rival in (0, 1)]
    if not certificate.intercept:  # sums that cancel, rather than means that are equal
        return " = ".join(some((f"{_share(m)}x[{i}]" for i, m in side), " + ") or "0" for side in sides)
    if all(len(side) == 1 for side in sides):
        return f"row {sides[0][0][0]} equals row {sides[1][0][0]}, which has the other label"
    if all(len(side) == 2 and side[0][1] == side[1][1] for side in sides):
        return " equals ".join(f"the midpoint of rows {side[0][0]} and {side[1][0]}" for side in sides)
    return " = ".join(some((f"{_share(share)}x[{i}]" for i, share in side), " + ") for side in sides)


def shares(certificate: Certificate, rival: int) -> list[tuple[int, Fraction]]:
    """Return the rows of the support of the class opposite a rival, with the share of each in the common point.

    Without an intercept these are multiples of rows, whose sums are equal.
    """
    terms = zip(map(certificate.row, certificate.support), certificate.rivals, certificate.multipliers, strict=True)
    own = [(i, m) for i, r, m in terms if r == rival]
    total = sum(m for _, m in own) if certificate.intercept else 1
    return [(i, Fraction(m, total)) for i, m in own]


def _describe_separator(certificate: Certificate) -> str:
    """Describe the weights, and where they vanish."""
    kind = "weak separator" if certificate.verdict == "quasi-separable" else "separator"
    if len(certificate.classes) == 2:
        *w, b = _shown_weights(cast(Sequence[Any], certificate.vector))
        bias, score = (f", b = {b}", "w.x + b") if certificate.intercept else ("", "w.x")
        weights = f"The {kind} is w = ({some(w)}){bias}"
        strict = f": {_describe_sides(certificate, score)}."
    else:
        weights = f"The {kind} has a weight vector for each of the {len(certificate.classes)} classes"
        strict = ", and the highest score on every row is that of its own class."
    if certificate.verdict == "separable":
        return weights + strict
    rows = dict.fromkeys(map(certificate.row, certificate.boundary))
    count, zeros = counted(len(rows), "row"), some(map(str, rows))
    return f"{weights}. No row is on its wrong side. Every weak separator is zero on {count}: {zeros}."


def _describe_sides(certificate: Certificate, score: str) -> str:
    """Describe where the score of a separator is positive and where it is negative."""
    if certificate.response == "counts":
        return f"{score} < 0 on every row, as all counts are zero"
    if certificate.response == "ordered":
        return f"{score} > 0 where a row is above a threshold and < 0 where it is below"
    if certificate.response != "labels":
        return f"{score} > 0 where all are successes and < 0 where all are failures"
    others = "" if certificate.classes[0] is None else f" and < 0 for label {certificate.classes[0]!r}"
    return f"{score} > 0 for label {certificate.classes[1]!r}{others}"


def _shown_weights(vector: Sequence[Any]) -> list[str]:
    """Return weights and a bias as text, divided by the largest weight if that is very large or very small."""
    exact = [Fraction(v) for v in vector]
    largest = max(map(abs, exact[:-1])) or abs(exact[-1])
    if largest and not 1e-3 <= largest <= 1e6:
        exact = [v / largest for v in exact]
    return [f"{float(v):.6g}" for v in exact]


def describe_relations(relations: dict[int, list[int]], names: Sequence[str]) -> str:
    """Describe how dependent columns follow from others: with factors, or by name only if factors are long.

    `relations` are those that `rosenblatt.prover.exact.spans.dependencies` returns, for features of these names.
    """
    found = []
    for feature, relation in relations.items():
        terms = [(j, Fraction(-v, relation[feature])) for j, v in enumerate(relation) if v and j != feature]
        constant = len(relation) - 1
        if any(share.denominator > 9999 or abs(share.numerator) > 9999 for _, share in terms):
            others = some("the intercept" if j == constant else names[j] for j, _ in terms)
            found.append(f"{names[feature]} depends on {others}")
        else:
            shown = some((_term(share, "" if j == constant else names[j]) for j, share in terms), " ")
            found.append(f"{names[feature]} = {shown.removeprefix('+ ') or '0'}")
    return f"Dependent columns: {some(found, '; ')}."


def _term(share: Fraction, name: str) -> str:
    """Return a product with its sign in front, as text."""
    size = abs(share)
    return f"{'-' if share < 0 else '+'} {f'{_share(size)}{name}' if name else size}"


def _describe_margins(certificate: Certificate) -> list[str]:
    """Describe the margins, and the mistakes that they allow."""
    lines = []
    for name, bracket in (("geometric", certificate.margin), ("augmented", certificate.augmented)):
        if bracket is None:
            continue
        if bracket.lower == math.inf:
            lines.append(f"There is only one class, so the {name} margin is unbounded.")
        elif bracket.upper == math.inf:
            lines.append(f"The {name} margin is at least {rounded_down(bracket.lower, 9)}.")
        else:
            lines.append(f"The {name} margin is {between(bracket.lower, bracket.upper)}.")
    rows = "(x, 1)" if certificate.intercept else "x"
    if certificate.mistake_bound is not None:
        lines.append(
            f"All rows {rows} are within {rounded_up(certificate.radius)} of the origin, so a perceptron makes at most "
            f"{counted(certificate.mistake_bound, 'mistake')}."
        )
    return lines


def _describe_estimates(certificate: Certificate) -> str:
    """Describe the estimates of a logistic regression without a penalty."""
    table = certificate.coefficients
    kinds: dict[str, list[str]] = {}
    for row in table.rows:
        label = f"{row['coefficient']} of {row['class']!r}" if "class" in row else str(row["coefficient"])
        kinds.setdefault(row["estimate"], []).append(label)
    found = "; ".join(f"{estimate}: {some(names)}" for estimate, names in kinds.items())
    quasi = certificate.verdict == "quasi-separable" and certificate.extreme
    rows = f" These are {some(map(str, certificate.extreme))}." if quasi else ""
    summary = table.summary()
    model = MODELS.get(certificate.response, "logistic regression")
    return f"For a {model} this is {summary[0].lower()}{summary[1:]}{rows}\nEstimates: {found}."


class Coefficients(NamedTuple):
    """The maximum-likelihood estimate of each coefficient, finite or not, as R's detectseparation reports it.

    Attributes
    ----------
    separation : str
        "complete separation", "quasi-complete separation" or "overlap" (Albert and Anderson 1984).
    classes : tuple
        The labels; each but the first has its own coefficients, relative to the first.
    names : tuple of str
        Names of the features; empty: x0, x1, ...
    estimates : tuple of str
        Estimates of the features and last of the intercept, for each class but the first.
    extreme : int
        Number of observations whose fitted probability tends to 0 or 1.
    note : str
        How the columns that are not identified follow from others.
    intercept : bool
        Whether the model has an intercept; the table has no row for it otherwise.
    limit : str
        To what the fitted means of these observations tend.
    """

    separation: str
    classes: tuple[Any, ...]
    names: tuple[str, ...]
    estimates: tuple[str, ...]
    extreme: int
    note: str = ""
    intercept: bool = True
    limit: str = "probability of 0 or 1"

    @property
    def rows(self) -> records.Records:
        """One entry per coefficient, the intercept first: name, estimate, and class if there are several."""
        size = len(self.estimates) // (len(self.classes) - 1)
        names = [*(self.names or (f"x{j}" for j in range(size - 1))), "intercept"]
        order = [*[size - 1] * self.intercept, *range(size - 1)]
        found = []
        for c, label in enumerate(self.classes[1:]):
            place = {"class": label} if len(self.classes) > 2 else {}
            found += [place | {"coefficient": names[j], "estimate": self.estimates[c * size + j]} for j in order]
        return found

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        return records.as_frame(self.rows)

    def __str__(self) -> str:
        """Return the table below a summary."""
        return f"{self.summary()}\n{records.as_text(self.rows, self.note)}"

    def summary(self) -> str:
        """Describe the kind of separation, and how many observations it affects."""
        if self.separation == "overlap":
            return "Overlap: the likelihood has a maximum."
        where = f"{self.extreme} observation{'s have' if self.extreme != 1 else ' has'} a fitted {self.limit}"
        if not self.extreme:  # of several classes only some become impossible
            where = "some fitted probabilities are 0"
        return f"{self.separation.capitalize()}: the likelihood has no maximum; in the limit {where}."

    def _repr_html_(self) -> str:
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"<p>{escape(self.summary())}</p>{records.as_html(self.rows)}{note}"
