"""Estimators whose attributes are those of a stream: nothing that was learned is stored twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.compiled.epochs import Counts
from rosenblatt.data.table import Table
from rosenblatt.errors import InvalidInput
from rosenblatt.estimators.base import EpochLearner
from rosenblatt.learn.model import LinearModel
from rosenblatt.learn.plan import Run
from rosenblatt.learn.stopping import Stop, Words
from rosenblatt.learn.stream import Learned, Settings, Stream
from rosenblatt.storage.checks import check_counts, check_record
from rosenblatt.storage.registry import expect

Array = npt.NDArray[Any]


def same_features(table: Table, stream: Stream) -> None:
    """Raise an error if a warm start would have to weigh other features."""
    if table.shape[1] != stream.n_features:
        raise InvalidInput(
            f"warm_start continues with {stream.n_features} features, but X has {table.shape[1]}. Fit anew."
        )


def chunk_record(counts: Counts, rows: int, largest: float, stream: Stream, words: Words, seconds: float) -> Run:
    """Return the record of a chunk of a stream, of so many rows, with the largest squared norm of them."""
    mistakes = int(counts.mistakes.sum())
    loss = float(counts.loss.sum()) * stream.settings.rate_scale / rows
    return Run(
        mistakes=(mistakes,),
        losses=(loss,),
        errors=(),
        updates=int(counts.updates.sum()),
        epochs=1,
        trials=rows,
        seconds=seconds,
        stop=Stop.CHUNK,
        reason=words[Stop.CHUNK].format(trials=rows, mistakes=mistakes, loss=loss) + ".",
        stops=(Stop.CHUNK,) * counts.mistakes.size,
        kept=1,
        cycle=None,
        radius=float(np.sqrt(largest + stream.settings.bias)),
        ceiling=None,
    )


class FromStream(EpochLearner):
    """Attributes of an estimator that are its stream's: nothing learned is stored twice."""

    stored_attributes: ClassVar[tuple[str, ...]] = ("model", "learned", "run_", "n_iter_", "stop_reason_")
    derived = ("_stream",)

    _stream: Stream

    def _settings(self) -> Settings:
        """Return how the stream learns, from the parameters."""
        raise NotImplementedError

    def _make_stream(self, settings: Settings, learned: Learned | None = None) -> Stream:
        return Stream(settings, learned, init=self.init)

    def _to_file(self) -> dict[str, Any]:
        if "_stream" not in self.__dict__:
            return {}
        return {"model": self._named_model(), "learned": self._stream.learned, **super()._to_file()}

    def _named_model(self) -> LinearModel:
        model = self._stream.model()
        names = tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else ()
        return replace(model, feature_names=names)

    def _check_learned(self) -> None:
        self._check_parameters()
        learned, model = self.__dict__.pop("learned"), self.__dict__.pop("model")
        # The weights alone are for `load_linear`; files of version 1 have none.
        expect(model is None or type(model) is LinearModel, "its model is none")
        expect(type(learned) is Learned, "what it has learned is missing. Fit again")
        check_record("what was learned", learned, Learned)
        check_counts(self, "n_iter_")
        expect(isinstance(self.stop_reason_, str), "stop_reason_ is not a sentence")
        expect(type(self.run_) is Run, "run_ is not a Run")
        stream = self._make_stream(self._settings(), learned)
        self._check_stream(stream)
        self._stream = stream

    def _check_stream(self, stream: Stream) -> None:
        stream.check()
        expect(stream.n_features == self.n_features_in_, f"the weights are of {stream.n_features} features. Fit again")

    @classmethod
    def _from_version_1(cls, parameters: dict[str, Any], attributes: dict[str, Any]) -> dict[str, Any]:
        old = {"coef_", "intercept_", "classes_", "t_", "mistakes_", "_trained", "run_", "n_iter_", "stop_reason_"}
        missing = old - attributes.keys()
        expect(not missing, f"it has no {', '.join(sorted(missing))}, as after a fit that failed. Fit it again")
        kept = {name: value for name, value in attributes.items() if name not in old or name in cls.stored_attributes}
        trained = attributes["_trained"]
        expect(type(trained) is tuple and len(trained) == 3, "what it was trained to is not known. Fit again")
        counts = attributes["t_"], attributes["mistakes_"]
        return kept | {"learned": Learned(attributes["classes_"], trained[0], *counts, ()), "model": None}

    def _learned(self, name: str) -> Stream:
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is None or stream.state is None:
            raise AttributeError(f"This {type(self).__name__} has no {name} yet. Call fit or partial_fit first.")
        return stream

    def __sklearn_is_fitted__(self) -> bool:
        return "_stream" in self.__dict__

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in self.declared and "_stream" in self.__dict__:
            self._stream.outdated = True

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features, where rows had any."""
        stream: Stream | None = self.__dict__.get("_stream")
        if stream is not None and stream.columns is not None:
            return np.array([*stream.columns], dtype=object)
        if "feature_names_in_" not in self.__dict__:
            raise AttributeError(f"The features of this {type(self).__name__} have no names.")
        names: Array = self.__dict__["feature_names_in_"]
        return names

    @feature_names_in_.setter
    def feature_names_in_(self, names: Array) -> None:
        self.__dict__["feature_names_in_"] = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        del self.__dict__["feature_names_in_"]

    @property
    def t_(self) -> int:
        """Trials so far."""
        return self._learned("t_").trials
