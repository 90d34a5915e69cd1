"""The pocket algorithm."""

from __future__ import annotations

from typing import Any, Literal, NoReturn

from rosenblatt.errors import NotAvailable
from rosenblatt.learners.base import available_when
from rosenblatt.learners.linear import LinearClassifier
from rosenblatt.learners.parameters import ForClasses, InEpochs, OnThreads, WithPadding, WithValidation, choice
from rosenblatt.learners.pocket_method import PocketMethod
from rosenblatt.training.algorithm import Algorithm


def _no_stream(estimator: Any) -> NoReturn:
    raise NotAvailable(
        "PocketPerceptron looks back at all rows, which a stream does not keep. Use AveragedPerceptron for streams."
    )


class PocketPerceptron(InEpochs, ForClasses, WithPadding, OnThreads, WithValidation, LinearClassifier):
    """The perceptron with its best weights in the pocket: for data that is not separable.

    Runs the perceptron, and keeps the weights with the longest run of correct trials, replaced only by weights that
    also make fewer errors on all rows (the ratchet). The error of the pocket never rises. Rows are drawn at random with
    replacement, ``shuffle="random"``, unless told otherwise.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    With rows drawn at random the pocket holds optimal weights with a probability that tends to one (Gallant 1990). Each
    look at all rows costs an epoch. While every epoch ends with fewer errors than the one before, only the weights at
    its end are looked at; afterwards those of every run that is longer than half of what the pocket's would reach.

    References
    ----------
    Gallant (1990), Perceptron-based learning algorithms, IEEE Transactions on Neural Networks 1, 179-191.

    Examples
    --------
    >>> from rosenblatt import PocketPerceptron
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [9.0]], [0, 0, 1, 1, 1, 0]
    >>> round(PocketPerceptron(max_iter=200, tol=None).fit(X, y).score(X, y), 3)
    0.833
    """

    shuffle: bool | Literal["random"] = choice(
        default="random",
        text="Reshuffle the rows each epoch, present them as they are stored, or draw them with replacement.",
        choices=(True, False, "random"),
    )

    modes = ("ovr", "ovo", "ovo-vote")
    without_shards = (
        "A pocket compares weights on all rows, and not on those of a shard. Choose Perceptron, or train "
        "without shards."
    )
    default_keep = "last"

    partial_fit = available_when(_no_stream)(LinearClassifier.partial_fit)
    learn_one = available_when(_no_stream)(LinearClassifier.learn_one)

    def _algorithm(self) -> Algorithm:
        return PocketMethod()
