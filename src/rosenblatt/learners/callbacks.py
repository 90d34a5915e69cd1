"""scikit-learn's callbacks (SLEP 23, from scikit-learn 1.9 on): a fit is a task, and each of its epochs is one within.

They come beside the parameter `callback`, which is a plain function of an `Epoch`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rosenblatt.learners.contract import CallbackSupportMixin, with_callbacks
from rosenblatt.training.plan import Epoch, Plan

# Where scikit-learn keeps callbacks in an estimator, and what it needs of them during a fit. Files do not hold them.
ATTRIBUTES = frozenset({"_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_parent_callback_ctx"})


class Watched(CallbackSupportMixin):
    """An estimator whose fits scikit-learn's callbacks can watch: `set_callbacks`, also on what it is a part of."""

    @property
    def _is_watched(self) -> bool:
        return "_skl_callbacks" in vars(self)

    @with_callbacks
    def _run_watched(
        self,
        plan: Plan,
        train: Callable[[Plan], Any],
        fitted: Callable[[Epoch], dict[str, Any]],
        X: Any,
        y: Any,
        sample_weight: Any = None,
    ) -> None:
        """Train by the plan, and tell the callbacks of the fit and of each epoch.

        `fitted` returns the attributes of an estimator whose fit had ended with the epoch. It is called only if a
        callback wants such an estimator.
        """
        if not self._is_watched:
            train(plan)
            return
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        told = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        fit = self._init_callback_context(max_subtasks=plan.max_iter).call_on_fit_task_begin(**told)
        task: Any = None

        def before(number: int) -> None:
            nonlocal task
            task = fit.subcontext(task_name=f"epoch {number}").call_on_fit_task_begin(**told)

        def after(epoch: Epoch) -> bool:
            own = plan.callback is not None and bool(plan.callback(epoch))
            return bool(task.call_on_fit_task_end(**told, reconstruction_attributes=lambda: fitted(epoch))) or own

        train(replace(plan, before_epoch=before, callback=after))
        fit.call_on_fit_task_end(**told, reconstruction_attributes={})
