"""The lab: step through every trial of a learner, in a browser or a notebook.

An engine records a whole run, and the page draws its trials. The learners of the lectures run in the page itself, the
others in Python. `open_lab` serves the page on this machine (extra ``lab``), `explore` shows it in a notebook (extra
``notebook``), and `rosenblatt.lab.page.lab_file` returns it as one HTML file.
"""

from __future__ import annotations

from typing import Any


def explore(X: Any = None, y: Any = None, **scene: Any) -> Any:
    """Return the lab as a notebook widget: points drawn in it are arrays in the next cell.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), optional
        Points to start with. With more than two features, only weights and trials are shown.
    y : array-like of shape (n_samples,), optional
        Labels, of at most four classes.
    **scene
        Fields of the scene: data="moons", learner="KernelPerceptron", params={"kernel": "rbf"}, order="shuffled", ...
        The learner may also be an estimator, or a class made by `rosenblatt.learner`.

    Returns
    -------
    rosenblatt.lab.widget.Lab
        Its `points`, `labels`, `trial` and `scene` follow the page; assign to them to change the page.
    """
    # Imported here: it needs an extra.
    from rosenblatt.lab.widget import make_lab

    return make_lab(X, y, **scene)


def open_lab(scene: Any = None, *, port: int = 0, browser: bool = True) -> None:
    """Serve the lab on this machine until it is interrupted.

    Parameters
    ----------
    scene : Scene, optional
        The scene to start with.
    port : int, default 0
        0 chooses a free port.
    browser : bool, default True
        Open a browser.
    """
    # Imported here: it needs an extra.
    from rosenblatt.lab.server import serve

    serve(scene, port=port, browser=browser)
