"""`Report`: what happened in a fit, as one HTML file that needs no network."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from rosenblatt.markup.elements import Markup, joined, tag
from rosenblatt.report.findings import Findings, examine
from rosenblatt.report.page import document
from rosenblatt.report.playable import Playable, playable
from rosenblatt.report.sections import heading, in_words, section, sections
from rosenblatt.storage.atomic import replace_file, target_of
from rosenblatt.text import count

# Of a report with the run on a hundred rows, and for each row more; what the frame takes besides the run.
MAX_BYTES, BYTES_PER_ROW, BYTES_OF_FRAME = 150_000, 800, 2_000


class Report:
    """What happened in a fit: the data, the training and its end, the evaluation, telling features, and a proof.

    Parameters
    ----------
    estimator : fitted classifier
        A member of the family, or a pipeline that ends in one. Of other classifiers a report says what it can.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows that it was trained on.
    y : array-like of shape (n_samples,)
    X_test, y_test : the same, optional
        Rows that it was not trained on.
    title : str, optional
    feature_names : sequence of str, optional
        Of the features as the classifier sees them; by default those that the data or the estimator knows.
    time_limit : float
        Seconds to look for a proof that the rows are separable, or not.
    play : bool
        Whether rows in the plane come with the run, to be played in the browser, where the lab can show it.

    Attributes
    ----------
    findings : Findings
        All figures of the report.
    html : str
        The file. It loads nothing, and its policy allows no script but the lab's.

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
        text = "Step through the training with the arrow keys, or play it; drag the line of time to go back."
        if run.epochs is not None:
            text += f" These are the first {count(run.epochs, 'epoch')}; there was no room for more."
        parts.insert(2, tag("div", section("The run", tag("p", text), run.body), class_="screen"))
        body = joined([head, tag("main", *parts), foot])
        return document(self.title, body, scripts=run.scripts, allowed=run.allowed, styles=run.styles)

    def _playable(self, used: int) -> Playable | None:
        """Return the run to play, if there is room for it in a page of which so many bytes are used."""
        found = self.findings
        n, d = found.rows.shape
        if d != 2 or found.run is None:
            return None
        rows = np.asarray(found.rows.toarray() if hasattr(found.rows, "toarray") else found.rows, np.float64)
        room = MAX_BYTES + BYTES_PER_ROW * max(0, n - 100) - BYTES_OF_FRAME - used
        return playable(found.model, rows, found.classes[found.label], found.names, epochs=found.run.epochs, room=room)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file, which appears whole or not at all.

        Parameters
        ----------
        path : str or path-like
        """
        replace_file(target_of(path), [self.html.encode()])

    def __str__(self) -> str:
        """Return the report in a few lines."""
        return in_words(self.findings)

    def __repr__(self) -> str:
        n, d = self.findings.rows.shape
        return f"Report({type(self.findings.model).__name__}, {count(n, 'row')}, {count(d, 'feature')})"

    def _repr_html_(self) -> str:
        # A frame of its own: neither its styles nor the notebook's reach the other. Scripts are the lab's alone.
        frame = f'<iframe sandbox="allow-scripts" width="100%" height="600" srcdoc="{escape(self.html)}"></iframe>'
        return Markup(frame)
