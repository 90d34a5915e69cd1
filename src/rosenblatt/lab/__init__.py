"""The lab: every trial of a learner, to be stepped through in a browser or a notebook.

The engine records a whole run; the page looks it up and draws. `open_lab` serves the page on this machine (extra
``lab``), `explore` shows it in a notebook (extra ``notebook``).
"""

from __future__ import annotations

from typing import Any


def explore(X: Any = None, y: Any = None, **scene: Any) -> Any:
    """Return the lab as a widget of a notebook: what is drawn there is an array in the next cell.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), optional
        Points to start with; with more than two features there is no plane, but weights and trials.
    y : array-like of shape (n_samples,), optional
        Labels of at most four classes.
    **scene
        What else a scene has: data="moons", learner="KernelPerceptron", params={"kernel": "rbf"}, order="shuffled", ...
        The learner may be an estimator too, also of a class that `rosenblatt.learner` has made.

    Returns
    -------
    rosenblatt.lab.widget.Lab
        With `points`, `labels`, `trial` and `scene`, which follow what happens on the page, and lead it.
    """
    # Imported here: it needs an extra.
    from rosenblatt.lab.widget import make_lab

    return make_lab(X, y, **scene)


def open_lab(scene: Any = None, *, port: int = 0, browser: bool = True) -> None:
    """Serve the lab on this machine until it is interrupted.

    Parameters
    ----------
    scene : Scene, optional
        What to show first.
    port : int, default 0
        0: a free one.
    browser : bool, default True
        Whether to open a browser.
    """
    # Imported here: it needs an extra.
    from rosenblatt.lab.server import serve

    serve(scene, port=port, browser=browser)
