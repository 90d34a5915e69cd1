"""Train, predict and certify on Dask. Needs the extra `dask`.

A shard is a partition, in the order of the partitions. Dask schedules and retries. The driver keeps the state of the
last round, and repeats a round whose workers died; lost rows are read again by lineage.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from os import PathLike
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InvalidInput, MissingExtra, NoWorker
from rosenblatt.learners.sharding import check_member, fit_shards
from rosenblatt.prover.certificates.certificate import Certificate
from rosenblatt.scaling.partitions import (
    HELD_SHARE,
    FileRows,
    in_groups,
    parsed_bytes,
    resolve_files,
    shard_of_block,
    shard_of_files,
    with_columns,
)
from rosenblatt.scaling.proving import certify_shards
from rosenblatt.text import short_repr
from rosenblatt.training.algorithm import never
from rosenblatt.training.mixing import merge, merge_tree
from rosenblatt.training.sharded import Shards, Work
from rosenblatt.training.shards import Late

try:
    import dask
    import dask.array as da
    import distributed
except ImportError as error:
    raise MissingExtra(f'Dask is not installed ({error}). Install it with pip install "rosenblatt[dask]".') from None

Array = npt.NDArray[Any]

# Of reading rows, and of a round in which too many workers died.
RETRIES = 3
# Raised when a worker is lost.
LOST = (distributed.KilledWorker, distributed.client.FutureCancelledError, distributed.comm.CommClosedError)
# Seconds to wait for a worker, and between checks whether there is one.
WORKER_TIMEOUT, CHECK_SECONDS = 300.0, 2.0
# The setting of Dask that overrides WORKER_TIMEOUT.
SETTING = "rosenblatt.worker-timeout"


def fit(
    estimator: Any,
    data: Any,
    y: Any = None,
    *,
    client: Any = None,
    shards: int | str = "partitions",
    rounds: int | None = None,
    mixing: str = "uniform",
    sample_weight: Any = None,
    hold: bool | None = None,
    **reading: Any,
) -> Any:
    """Train an estimator on a Dask cluster, by iterative parameter mixing.

    Parameters
    ----------
    estimator : estimator
        A linear estimator for which mixing is defined, with its parameters. It is not changed.
    data : dask array, dask frame, or list of paths
        Rows: arrays with dense or sparse blocks; frames; or files of any format that `rosenblatt train` reads, which
        every worker must see under the same path. A path may be a pattern.
    y : dask array or series, or str
        Labels, partitioned like the rows; for a frame also the name of a column. None for files, which contain them.
    client : distributed.Client, optional
        By default the current one.
    shards : int or "partitions"
        Number of shards: by default one for each partition or file. The result depends on it, not on the workers.
    rounds : int, optional
        Maximum number of epochs, instead of `max_iter` of the estimator. Each is one round of the cluster, or `mixes`
        rounds.
    mixing : {"uniform", "mistakes"}
        Whether shards have equal weights, or weights by their mistakes.
    sample_weight : dask array or series, or str, optional
        Like y.
    hold : bool, optional
        Whether workers hold the rows of files in memory, by default if they fit; otherwise files are read again in each
        round. The result does not depend on it.
    **reading
        For files: how to read them, as for `rosenblatt train`: format, label, features, columns, ...

    Returns
    -------
    estimator
        Fitted, with its `run_`.

    Raises
    ------
    NoWorker
        If the cluster has no worker, at the start or because all were lost, for 300 seconds, or for the time in the
        setting "rosenblatt.worker-timeout" of `dask.config`.

    Examples
    --------
    >>> from distributed import Client
    >>> from rosenblatt import AveragedPerceptron
    >>> from rosenblatt.scaling.dask import fit
    >>> with Client("tcp://scheduler:8786") as client:  # doctest: +SKIP
    ...     model = fit(AveragedPerceptron(), ["day-1.svm", "day-2.svm"], rounds=5)
    """
    check_member(estimator)
    held = OnDask(client, data, y, reading, shards=shards, sample_weight=sample_weight, hold=hold)
    return fit_shards(estimator, held, rounds=rounds, mixing=mixing)


def predict(model: Any, data: Any, *, method: str = "predict", **reading: Any) -> Any:
    """Return the predictions of a model, computed lazily where the data is, partition by partition.

    Parameters
    ----------
    model : estimator
        Fitted.
    data : dask array, dask frame, or list of paths
        Rows. Files are read as in `fit`, with the same options; their labels are ignored.
    method : str
        Method of the model: "predict", "decision_function" or "predict_proba".

    Returns
    -------
    dask array
        A prediction for each row, in order. For frames and files, the sizes of its chunks are unknown until computed.
    """
    sent = dask.delayed(model)
    call = dask.delayed(_predicted)
    example = _predicted(model, np.zeros((1, model.n_features_in_)), method)
    shape = example.shape[1:]
    if _are_paths(data):
        paths, options, _, _ = resolve_files(data, reading | {"labels": "optional"})
        if hasattr(model, "feature_names_in_"):
            options = with_columns(options, model.feature_names_in_.tolist())
        parts = [call(sent, FileRows([path], options), method) for path in paths]
        sizes: list[Any] = [np.nan] * len(parts)
    elif hasattr(data, "to_delayed") and hasattr(data, "columns"):
        parts = [call(sent, part, method) for part in data.to_delayed()]
        sizes = [np.nan] * len(parts)
    elif isinstance(data, da.Array):
        data = data.rechunk({1: -1})
        parts = [call(sent, part, method) for part in data.to_delayed().ravel()]
        sizes = list(data.chunks[0])
    else:
        raise _not_dask(data)
    arrays = [
        da.from_delayed(part, (size, *shape), example.dtype, meta=example[:0])
        for part, size in zip(parts, sizes, strict=True)
    ]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def certify(
    data: Any,
    y: Any = None,
    *,
    client: Any = None,
    margin: bool = True,
    time_limit: float | None = None,
    **reading: Any,
) -> Certificate:
    """Decide whether hyperplanes separate the classes, and prove it, where the data is.

    The certificate is about all rows: `rosenblatt.verify` confirms it on the same rows in one table. Each partition
    checks signs in exact arithmetic, and reports rows that contradict the result so far; the search sees only those.

    Parameters
    ----------
    data, y, client, **reading
        As for `fit`.
    margin : bool
        Whether to find the largest margin as well, for two classes.
    time_limit : float or None
        Seconds after which the verdict is "undecided".

    Returns
    -------
    Certificate
    """
    return certify_shards(OnDask(client, data, y, reading), margin=margin, time_limit=time_limit)


# -------------------------------------------------------------------------------------------------------------- shards


class OnDask(Shards):
    """Shards in the memory of Dask's workers, which does not wait forever if there is no worker.

    Attributes
    ----------
    client : distributed.Client
    worker_timeout : float
        Seconds, from the settings of Dask.
    shards : dict from int to Future
        By number, in their order.
    """

    def __init__(
        self,
        client: Any,
        data: Any,
        y: Any,
        reading: dict[str, Any],
        *,
        shards: int | str = "partitions",
        sample_weight: Any = None,
        hold: bool | None = None,
    ) -> None:
        timeout = dask.config.get(SETTING, WORKER_TIMEOUT)
        self.client, self.worker_timeout = _client(client), float(dask.utils.parse_timedelta(timeout))
        if not self.worker_timeout > 0:
            raise InvalidInput(
                f"The setting {SETTING}={short_repr(timeout)} is not above 0. Set it to a number of seconds."
            )
        if not (shards == "partitions" or (isinstance(shards, int) and shards >= 1)):
            raise InvalidInput(
                f"shards={short_repr(shards)} is neither an integer from 1 nor 'partitions'. Pass one of these."
            )
        if _are_paths(data):
            if y is not None or sample_weight is not None:
                raise InvalidInput("Files contain their labels and weights. Leave out y and sample_weight.")
            self.shards = self._files(data, shards, hold, reading)
            return
        if reading:
            raise InvalidInput(f"{next(iter(reading))}= is an option for files. Leave it out for arrays and frames.")
        self.shards = {
            number: self.client.submit(shard_of_block, number, *self.client.compute(parts), pure=False, retries=RETRIES)
            for number, parts in enumerate(_blocks(data, y, sample_weight, shards))
        }

    def _files(self, data: Any, shards: Any, hold: bool | None, reading: dict[str, Any]) -> dict[int, Any]:
        """Return the files of each shard, as futures."""
        paths, options, names, notes = resolve_files(data, reading)
        for note in notes:
            warnings.warn(note, stacklevel=4)
        count = len(paths) if shards == "partitions" else shards
        if count > len(paths):
            raise InvalidInput(
                f"{len(paths)} files cannot become {count} shards. Split them into more files, or request fewer shards."
            )
        if hold is None:
            limits = [worker["memory_limit"] for worker in self._workers()]
            hold = not limits or 0 in limits or parsed_bytes(paths) <= HELD_SHARE * sum(limits)
        return {
            number: self.client.submit(
                shard_of_files, number, FileRows(group, options), names, hold, pure=False, retries=RETRIES
            )
            for number, group in enumerate(in_groups(paths, count))
        }

    def _submit(self, *task: Any) -> Any:
        """Return the future of a task, which Dask does not share with identical tasks."""
        return self.client.submit(*task, pure=False)

    def _workers(self) -> list[dict[str, Any]]:
        """Return the scheduler's information on each worker."""
        return list(self.client.scheduler_info(n_workers=-1)["workers"].values())

    def _result(self, future: Any) -> Any:
        """Return the result of a future; raise `NoWorker` where Dask would wait forever for a worker."""
        seen = monotonic()
        while True:
            try:
                return future.result(timeout=min(CHECK_SECONDS, self.worker_timeout))
            except TimeoutError:
                if future.done():  # a TimeoutError of the task itself
                    return future.result()
            if self._workers():
                seen = monotonic()
            elif monotonic() - seen >= self.worker_timeout:
                raise NoWorker(
                    f"The Dask scheduler at {self.client.scheduler.address} had no worker for "
                    f"{self.worker_timeout:g} s. Start workers, for example with dask worker, or increase {SETTING}."
                )

    def combine(self, work: Work, late: Late = never) -> Any:
        """Call `work` where each shard is, and merge the results in a tree of tasks; retry if workers were lost."""
        for attempt in range(RETRIES + 1):
            try:
                return self._combine(work)
            except LOST:
                if attempt == RETRIES:
                    raise
        raise AssertionError("unreachable")

    def _combine(self, work: Work) -> Any:
        # Not scattered: scattered data has no lineage, and is lost with its worker. Dask warns about large graphs, but
        # this is the state, which is sent only once.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "10GB"}):
            sent = self._submit(_same, work)
        parts = [self._submit(_apply, sent, shard) for shard in self.shards.values()]
        kept = [sent, *parts]  # Dask forgets futures without a reference

        def merged(first: Any, second: Any) -> Any:
            kept.append(self._submit(merge, first, second))
            return kept[-1]

        return self._result(merge_tree(parts, merged))

    def each(self, work: Work) -> Iterator[Any]:
        """Yield the result of `work` for each shard in turn."""
        return (self._result(self._submit(work, shard)) for shard in self.shards.values())

    def keep(self, numbers: Sequence[int]) -> None:
        """Forget all shards but these."""
        self.shards = {number: self.shards[number] for number in numbers}


def _same(work: Work) -> Work:
    return work


def _apply(work: Work, shard: Any) -> Any:
    return work(shard)


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address."""
    try:
        return distributed.Client(address)
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"There is no Dask scheduler at {address} ({error}). Start one with dask scheduler."
        ) from None


def _client(client: Any) -> Any:
    if client is not None:
        return client
    try:
        return distributed.get_client()
    except ValueError:
        raise InvalidInput(
            "There is no Dask client. Create one, for example with distributed.Client(address), or pass client=."
        ) from None


# ---------------------------------------------------------------------------------------------------------- partitions


def _are_paths(data: Any) -> bool:
    if isinstance(data, str | PathLike):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(path, str | PathLike) for path in data)


def _not_dask(data: Any) -> InvalidInput:
    return InvalidInput(
        f"data is a {type(data).__name__}, not a Dask collection. Pass a dask array, a dask frame or a list of paths; "
        "for data in memory, call the estimator's own fit."
    )


def _blocks(data: Any, y: Any, weight: Any, shards: Any) -> list[list[Any]]:
    """Return rows, labels and weights of each shard, as delayed objects or names of columns."""
    if isinstance(data, da.Array) and data.ndim == 2:
        return _array_blocks(data, y, weight, shards)
    if hasattr(data, "to_delayed") and hasattr(data, "columns"):
        if shards != "partitions":
            data = data.repartition(npartitions=shards)
            y, weight = (
                one.repartition(npartitions=shards) if hasattr(one, "repartition") else one for one in (y, weight)
            )
        parts = data.to_delayed()
        if y is None:
            raise InvalidInput("y is missing. Pass the name of the column with the labels.")
        columns = [parts, *([one] * len(parts) if _is_plain(one) else one.to_delayed() for one in (y, weight))]
        if len({len(column) for column in columns}) > 1:
            raise InvalidInput("y or sample_weight has other partitions than the rows. Pass names of columns.")
        return [list(part) for part in zip(*columns, strict=True)]
    raise _not_dask(data)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _array_blocks(data: Any, y: Any, weight: Any, shards: Any) -> list[list[Any]]:
    """Return the blocks of arrays; a number of `shards` splits them the way the estimators split a table."""
    if y is None:
        raise InvalidInput("y is missing. Pass a dask array with the label of each row.")
    if np.isnan(data.shape[0]) and shards != "partitions":
        data = data.compute_chunk_sizes()
    if shards != "partitions":
        sizes = tuple(len(part) for part in np.array_split(np.arange(data.shape[0]), shards))
        data = data.rechunk({0: sizes, 1: -1})
    else:
        data = data.rechunk({1: -1})
    sized = not np.isnan(data.shape[0])
    columns = [data.to_delayed().ravel()]
    for name, one in (("y", y), ("sample_weight", weight)):
        if one is None:
            columns.append([None] * len(columns[0]))
            continue
        column = one if isinstance(one, da.Array) else da.asarray(one)
        if sized and column.shape[:1] != data.shape[:1]:
            raise InvalidInput(f"{name} has {column.shape[0]} values, data has {data.shape[0]} rows. Pass one each.")
        column = column.rechunk({0: data.chunks[0]}) if sized else column
        if column.numblocks[0] != len(columns[0]):
            raise InvalidInput(f"{name} has other blocks than the rows, whose sizes are unknown. Use the same blocks.")
        columns.append(column.to_delayed().ravel())
    return [list(part) for part in zip(*columns, strict=True)]


def _predicted(model: Any, rows: Any, method: str) -> Array:
    call = getattr(model, method)
    if not isinstance(rows, FileRows):
        return np.asarray(call(rows))
    return np.concatenate([np.asarray(call(chunk.table.matrix())) for chunk in rows.source()])
