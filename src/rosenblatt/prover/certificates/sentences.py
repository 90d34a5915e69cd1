"""Certificates in words: what was proved, and by what."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, cast

from rosenblatt.text import between, rounded_down, rounded_up

if TYPE_CHECKING:
    from rosenblatt.prover.certificates.certificate import Certificate

# Rows, weights or names that a printed proof has.
SHOWN_ITEMS = 6
# Weights beyond these are divided by the largest before they are printed.
SMALLEST_SHOWN, LARGEST_SHOWN = 1e-3, 1e6
# The longest factor of a column that is written out.
LARGEST_SHARE = 9999
# From here on, numbers are rounded.
LARGEST_WRITTEN_OUT = 10**12
# What a certificate says where time did not suffice for the table of coefficients; the reason follows.
NO_ESTIMATES = "Which coefficients have finite estimates was not determined"
# How the numbers were read, where that is not as they are.
READINGS = {"binary": "", "decimal": ", read as decimals", "rational": ""}


def describe(certificate: Certificate) -> str:
    """Describe a proof in a few sentences."""
    n, d = certificate.shape
    verdict = {"separable": "separable", "undecided": "undecided"}.get(
        certificate.verdict, f"not separable: {certificate.verdict}"
    )
    data = f"{counted(n, 'sample')}, {counted(d, 'feature')}{READINGS[certificate.arithmetic]}"
    lines = [f"{data}: {verdict}."]
    if certificate.verdict == "undecided":
        return f"{lines[0]} {certificate.reason}".rstrip()
    if certificate.support:
        lines.append(_describe_support(certificate))
    if certificate.vector is not None:
        lines.append(_describe_separator(certificate))
    lines += _describe_margins(certificate)
    if certificate.estimates and certificate.names:
        lines.append(_describe_estimates(certificate))
    if certificate.reason:
        lines.append(certificate.reason)
    return "\n".join(lines)


def as_html(certificate: Certificate) -> str:
    """Return the description as HTML, with a picture of the witness, and the table of coefficients if there is one."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in describe(certificate).splitlines())
    return lines + picture(certificate) + (certificate.coefficients._repr_html_() if certificate.estimates else "")


def picture(certificate: Certificate) -> str:
    """Return the witness as bars: the weights of a separator, or the shares of the rows that meet; empty without one.

    A certificate does not hold the data, so that there are no points to draw.
    """
    # Imported here: most certificates are never shown in a browser.
    from rosenblatt.markup.charts import sideways_bars
    from rosenblatt.markup.palette import CLASSES

    if len(certificate.classes) != 2:
        return ""
    if certificate.support:
        sides = [_shares(certificate, rival) for rival in (0, 1)]
        # Rows with rival 0 are of class 1, and the other way round.
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
    """Return a number and a noun, in the plural unless it is one."""
    shown = f"{number:,}" if number < LARGEST_WRITTEN_OUT else rounded_up(number, 3)
    return f"{shown} {noun}{'' if number == 1 else 's'}"


def some(parts: Iterable[str], joint: str = ", ") -> str:
    """Join the first few, and say how many more there are."""
    parts = list(parts)
    rest = len(parts) - SHOWN_ITEMS
    return joint.join(parts[:SHOWN_ITEMS]) + (f"{joint}... ({rest} more)" if rest > 0 else "")


def _share(share: Fraction) -> str:
    """Write a weight: as a fraction while that is short."""
    if share == 1:
        return ""
    return f"{share} " if share.denominator <= 1000 else f"{float(share):.4g} "


def _describe_support(certificate: Certificate) -> str:
    """Describe at which point the hulls meet, or which signed rows cancel."""
    if len(certificate.classes) > 2:
        count = counted(len(set(certificate.support)), "row")
        cancelling = _describe_cancelling(certificate)
        return (
            f"These {count} prove it. No weights score all of them right, since their differences cancel: {cancelling}."
        )
    where = f". The hulls of the two classes meet at ({some(f'{v:.6g}' for v in certificate.point)})"
    count = counted(len(certificate.support), "row")
    return f"These {count} prove it: {_describe_meeting(certificate)}{where if certificate.point else ''}."


def _describe_cancelling(certificate: Certificate) -> str:
    """List the signed rows of several classes, with their shares of the sum that vanishes."""
    total = sum(certificate.multipliers)
    terms = zip(certificate.support, certificate.rivals, certificate.multipliers, strict=True)
    return some(f"{_share(Fraction(m, total))}(row {i} against {certificate.classes[r]!r})" for i, r, m in terms)


def _describe_meeting(certificate: Certificate) -> str:
    """Describe the point that is a mean of rows of either class."""
    sides = [_shares(certificate, rival) for rival in (0, 1)]
    if all(len(side) == 1 for side in sides):
        return f"row {sides[0][0][0]} equals row {sides[1][0][0]}, which has the other label"
    if all(len(side) == 2 and side[0][1] == side[1][1] for side in sides):
        return " equals ".join(f"the midpoint of rows {side[0][0]} and {side[1][0]}" for side in sides)
    return " = ".join(some((f"{_share(share)}x[{i}]" for i, share in side), " + ") for side in sides)


def _shares(certificate: Certificate, rival: int) -> list[tuple[int, Fraction]]:
    """Return the samples of one class in the support, with their shares of the common point."""
    terms = zip(certificate.support, certificate.rivals, certificate.multipliers, strict=True)
    own = [(i, m) for i, r, m in terms if r == rival]
    total = sum(m for _, m in own)
    return [(i, Fraction(m, total)) for i, m in own]


def _describe_separator(certificate: Certificate) -> str:
    """Describe the weights, and where they vanish."""
    kind = "weak separator" if certificate.verdict == "quasi-separable" else "separator"
    if len(certificate.classes) == 2:
        *w, b = _shown_weights(cast(Sequence[Any], certificate.vector))
        weights = f"The {kind} is w = ({some(w)}), b = {b}"
        above = f": w.x + b > 0 for label {certificate.classes[1]!r}"
        others = "" if certificate.classes[0] is None else f" and < 0 for label {certificate.classes[0]!r}"
        strict = f"{above}{others}."
    else:
        weights = f"The {kind} has a weight vector for each of the {len(certificate.classes)} classes"
        strict = ", and the highest score on every row is that of its own class."
    if certificate.verdict == "separable":
        return weights + strict
    count = counted(len(certificate.boundary), "row")
    zeros = some(map(str, certificate.boundary))
    return f"{weights}. No row is on its wrong side. Every such one is zero on {count}: {zeros}."


def _shown_weights(vector: Sequence[Any]) -> list[str]:
    """Write weights and a bias; divided by the largest weight, if that is very large or very small."""
    exact = [Fraction(v) for v in vector]
    largest = max(map(abs, exact[:-1])) or abs(exact[-1])
    if largest and not SMALLEST_SHOWN <= largest <= LARGEST_SHOWN:
        exact = [v / largest for v in exact]
    return [f"{float(v):.6g}" for v in exact]


def describe_relations(relations: dict[int, list[int]], names: Sequence[str]) -> str:
    """Describe what dependent columns are made of: exactly, or by naming the columns where the factors are long.

    Parameters
    ----------
    relations : dict
        For each dependent feature integers, one for each feature and last for the constant, whose sum of products with
        these vanishes on every row.
    names : sequence of str
        Of the features.
    """
    found = []
    for feature, relation in relations.items():
        terms = [(j, Fraction(-v, relation[feature])) for j, v in enumerate(relation) if v and j != feature]
        constant = len(relation) - 1
        if any(share.denominator > LARGEST_SHARE or abs(share.numerator) > LARGEST_SHARE for _, share in terms):
            others = some("the intercept" if j == constant else names[j] for j, _ in terms)
            found.append(f"{names[feature]} depends on {others}")
        else:
            shown = some((_term(share, "" if j == constant else names[j]) for j, share in terms), " ")
            found.append(f"{names[feature]} = {shown.removeprefix('+ ') or '0'}")
    return f"Dependent columns: {some(found, '; ')}."


def _term(share: Fraction, name: str) -> str:
    """Write a product with its sign in front."""
    size = abs(share)
    return f"{'-' if share < 0 else '+'} {f'{_share(size)}{name}' if name else size}"


def _describe_margins(certificate: Certificate) -> list[str]:
    """Describe the margins, and the mistakes that they allow."""
    lines = []
    for name, bracket in (("geometric", certificate.margin), ("augmented", certificate.augmented)):
        if bracket is None:
            continue
        if bracket.lower == math.inf:
            lines.append(f"There is one class only: the {name} margin has no limit.")
        elif bracket.upper == math.inf:
            lines.append(f"The {name} margin is at least {rounded_down(bracket.lower, 9)}.")
        else:
            lines.append(f"The {name} margin is {between(bracket.lower, bracket.upper)}.")
    if certificate.mistake_bound is not None:
        lines.append(
            f"All rows (x, 1) are within {rounded_up(certificate.radius)} of the origin, so that a perceptron makes at "
            f"most {counted(certificate.mistake_bound, 'mistake')}."
        )
    return lines


def _describe_estimates(certificate: Certificate) -> str:
    """Describe what a logistic regression without a penalty would estimate."""
    table = certificate.coefficients
    kinds: dict[str, list[str]] = {}
    for row in table.rows:
        label = f"{row['coefficient']} of {row['class']!r}" if "class" in row else str(row["coefficient"])
        kinds.setdefault(row["estimate"], []).append(label)
    found = "; ".join(f"{estimate}: {some(names)}" for estimate, names in kinds.items())
    rows = f" These are {some(map(str, certificate.extreme))}." if certificate.verdict == "quasi-separable" else ""
    sentence = table.sentence()
    return f"For a logistic regression this is {sentence[0].lower()}{sentence[1:]}{rows}\nEstimates: {found}."
