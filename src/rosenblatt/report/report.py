"""`Report`: a fit as one HTML file that needs no network."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from rosenblatt.markup.elements import Markup, joined, tag
from rosenblatt.report.findings import Findings, examine
from rosenblatt.report.page import Playable, document, playable
from rosenblatt.report.sections import heading, section, sections, summary_text
from rosenblatt.storage.atomic import replace_file, target_of
from rosenblatt.text import count

MAX_BYTES = 150_000  # of a report with a playable run of 100 rows


class Report:
    """A report on a fit: the data, the training and why it stopped, the evaluation, the largest weights, and a proof.

    Parameters
    ----------
    estimator : fitted classifier
        A member of the family, or a pipeline that ends in one. Reports on other classifiers have fewer sections.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Their labels.
    X_test, y_test : the same, optional
        Held-out rows.
    title : str, optional
        The heading.
    feature_names : sequence of str, optional
        Names of the features that the classifier sees; by default those of the data or the estimator.
    time_limit : float
        Seconds to search for a proof that the rows are separable, or that they are not.
    play : bool
        Include the run, to be played in the browser, if the rows are in the plane and the lab can show it.

    Attributes
    ----------
    findings : Findings
        The figures of the report.
    html : str
        The file. It loads nothing, and its policy allows only the scripts of the lab.

    Examples
    --------
    >>> from rosenblatt import Perceptron, Report
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> report = Report(Perceptron(shuffle=False).fit(X, y), X, y)
    >>> report.findings.evaluations[0].accuracy, report.findings.certificate.verdict
    (1.0, 'separable')
    >>> report.save("report.html")  # doctest: +SKIP
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        title: str | None = None,
        feature_names: Any = None,
        time_limit: float = 10.0,
        play: bool = True,
    ) -> None:
        self.findings: Findings = examine(estimator, X, y, X_test, y_test, names=feature_names, time_limit=time_limit)
        self.title = str(title) if title is not None else f"{heading(self.findings)[0]}: a report"
        self.play = play

    @cached_property
    def html(self) -> str:
        """The report as one HTML file."""
        parts = list(sections(self.findings))
        head = tag("header", tag("h1", self.title), tag("p", f"{heading(self.findings)[1]}."))
        foot = tag("footer", tag("p", "Written by rosenblatt. This file loads nothing and sends nothing."))
        plain = document(self.title, joined([head, tag("main", *parts), foot]))
        run = self._playable(len(plain.encode())) if self.play else None
        if run is None:
            return plain
        text = "Step through the training with the arrow keys, or play it. Drag along the timeline to go back."
        if run.epochs is not None:
            text += f" Only the first {count(run.epochs, 'epoch')} fit into this file."
        parts.insert(2, tag("div", section("The run", tag("p", text), run.body), class_="screen"))
        return document(self.title, joined([head, tag("main", *parts), foot]), run)

    def _playable(self, used: int) -> Playable | None:
        """Return the run to play, if it fits into a page that already has `used` bytes."""
        found = self.findings
        n, d = found.rows.shape
        if d != 2 or found.run is None:  # a sparse matrix of many columns would not fit into memory
            return None
        rows = np.asarray(found.rows.toarray() if hasattr(found.rows, "toarray") else found.rows, np.float64)
        room = MAX_BYTES + 800 * max(0, n - 100) - 2_000 - used  # 800 for each further row; the frame takes 2,000
        return playable(found.model, rows, found.classes[found.label], found.names, epochs=found.run.epochs, room=room)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file, atomically: on failure the old file is still there.

        Parameters
        ----------
        path : str or path-like
        """
        replace_file(target_of(path), [self.html.encode()])

    def __str__(self) -> str:
        """Return the report in a few lines."""
        return summary_text(self.findings)

    def __repr__(self) -> str:
        n, d = self.findings.rows.shape
        return f"Report({type(self.findings.model).__name__}, {count(n, 'row')}, {count(d, 'feature')})"

    def _repr_html_(self) -> str:
        # In a frame, the styles of the report and of the notebook do not mix.
        frame = f'<iframe sandbox="allow-scripts" width="100%" height="600" srcdoc="{escape(self.html)}"></iframe>'
        return Markup(frame)
