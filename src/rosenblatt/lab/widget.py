"""The lab as a notebook widget: points drawn in it are arrays in the next cell.

Only this module imports anywidget.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels
from rosenblatt.data.matrices import as_dense
from rosenblatt.errors import InvalidInput, MissingExtra, RosenblattError
from rosenblatt.lab.answers import answer
from rosenblatt.lab.catalogue import catalogue
from rosenblatt.lab.page import one_file, shown_params, style_text, widget_module
from rosenblatt.lab.scene import MAX_CLASSES, Scene

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise MissingExtra(
        f'The lab in a notebook needs anywidget ({error}). Run: pip install "rosenblatt[notebook]"'
    ) from None

Array = npt.NDArray[Any]

HEIGHT = "760px"


def _plain(value: Any, _: Any = None) -> Any:
    return np.asarray(value).tolist()


def _array(value: Any, _: Any = None) -> Array:
    return np.asarray(value)


class Lab(anywidget.AnyWidget):  # type: ignore[misc]
    """The lab as a widget.

    Attributes
    ----------
    points : array of shape (n_samples, n_features)
        The points on the page. Assign others to show them.
    labels : array of shape (n_samples,)
        Their labels; the class numbers of points drawn on the page.
    trial : int
        The trial that the page shows.
    scene : dict
        The scene that the page shows, as `Scene.as_dict` gives it.
    """

    _esm = widget_module()
    _css = style_text().replace("100vh", HEIGHT)  # the widget fills a cell, not the screen

    points = traitlets.Any().tag(sync=True, to_json=_plain, from_json=_array)
    labels = traitlets.Any().tag(sync=True, to_json=_plain, from_json=_array)
    trial = traitlets.Int(0, min=0).tag(sync=True)
    scene = traitlets.Dict().tag(sync=True)
    _options = traitlets.Dict().tag(sync=True)

    def __init__(self, scene: Scene, classes: Array | None = None, **traits: Any) -> None:
        self._classes = classes
        self._settling = True  # these traits agree: do not derive one from another
        X, y = scene.rows()
        super().__init__(
            scene=scene.as_dict(),
            points=X,
            labels=self._named(y, scene),
            _options={"catalogue": catalogue(), "editable": True, "address": False},
            **traits,
        )
        self._settling = False
        self.on_msg(self._answer)

    def _named(self, y: Array, scene: Scene) -> Array:
        """Return labels instead of class numbers, if the user passed labels."""
        return y if self._classes is None or scene.data != "points" else self._classes[y]

    # ------------------------------------------------------------------------------------------------------ both ways

    @traitlets.validate("scene")  # type: ignore[untyped-decorator]
    def _check_scene(self, proposal: Any) -> Any:
        Scene.from_dict(proposal["value"])
        return proposal["value"]  # unchanged: a changed value would be sent back to the page

    @traitlets.observe("scene")  # type: ignore[untyped-decorator]
    def _follow_scene(self, change: Any) -> None:
        if self._settling:
            return
        scene = Scene.from_dict(self.scene)
        try:
            X, y = scene.rows()
        except InvalidInput:  # points of one class, while the user is drawing
            return
        labels = self._named(y, scene)
        if not (np.array_equal(X, self.points) and np.array_equal(labels, self.labels)):
            self._set(points=X, labels=labels)

    @traitlets.observe("points", "labels")  # type: ignore[untyped-decorator]
    def _follow_points(self, change: Any) -> None:
        # They are set one after the other.
        if self._settling or len(np.atleast_1d(self.points)) != len(np.atleast_1d(self.labels)):
            return
        classes, points = as_points(self.points, self.labels)
        self._classes = classes
        self._set(scene=Scene.from_dict({**self.scene, "data": "points", "points": points, "start": None}).as_dict())

    def _set(self, **values: Any) -> None:
        """Set traits that follow from another, without deriving others from them."""
        self._settling = True
        try:
            for name, value in values.items():
                setattr(self, name, value)
        finally:
            self._settling = False

    # ------------------------------------------------------------------------------------------------------ questions

    def _answer(self, _: Any, message: Any, buffers: Any) -> None:
        """Answer a question of the page; an error is sent as a message."""
        number = message.get("id") if isinstance(message, dict) else None
        try:
            kind, body = message["kind"], message.get("body") or {}
            content = catalogue() if kind == "catalogue" else answer(kind, body)
        except (RosenblattError, KeyError, TypeError, AttributeError) as error:
            self.send({"id": number, "error": str(error)})
            return
        if isinstance(content, bytes):
            self.send({"id": number, "bytes": True}, [content])
        else:
            self.send({"id": number, "answer": content})

    def _repr_html_(self) -> str:
        """Return the run as a page in a frame, for viewers without a kernel."""
        page = one_file(Scene.from_dict(self.scene), title="rosenblatt lab", t=self.trial)
        return f'<iframe srcdoc="{escape(page)}" width="100%" height="{HEIGHT}" style="border:0"></iframe>'


def as_points(X: Any, y: Any) -> tuple[Array, list[list[float]]]:
    """Return the classes, and each point with its class number last; raise `InvalidInput` if there are too many."""
    rows = np.asarray(as_dense(X), dtype=np.float64)
    if rows.ndim != 2:
        raise InvalidInput(f"X has shape {rows.shape}, not two dimensions. Pass a table with a row for each point.")
    classes, label = as_labels(y, len(rows))
    if classes.size > MAX_CLASSES:
        raise InvalidInput(f"y has {classes.size} classes, but the lab shows at most {MAX_CLASSES}. Select some.")
    return classes, [[*row, int(k)] for row, k in zip(rows.tolist(), label.tolist(), strict=True)]


def _named_learner(scene: dict[str, Any]) -> dict[str, Any]:
    """Return a scene with the name of its learner, and with the parameters of an estimator if it has one."""
    learner = scene.get("learner", "Perceptron")
    if isinstance(learner, str):
        return scene
    name = learner.__name__ if isinstance(learner, type) else type(learner).__name__
    if isinstance(learner, type) or not hasattr(learner, "get_params"):
        return {**scene, "learner": name}
    return {**scene, "learner": name, "params": {**dict(shown_params(learner)), **scene.get("params", {})}}


def make_lab(X: Any = None, y: Any = None, **scene: Any) -> Lab:
    """Return the widget; see `rosenblatt.lab.explore`."""
    if (X is None) != (y is None):
        raise InvalidInput("Only one of X and y was passed. Pass both, or neither.")
    scene = _named_learner(scene)
    if X is None:
        return Lab(Scene.from_dict(scene))
    classes, points = as_points(X, y)
    return Lab(Scene.from_dict({**scene, "data": "points", "points": points}), classes)
