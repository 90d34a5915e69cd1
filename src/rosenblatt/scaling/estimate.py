"""What a round costs, and whether a cluster pays: a simulation that users run with their own figures."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rosenblatt.errors import InvalidInput

# Nanoseconds that an entry of a row takes in an epoch, while the weights are in the cache and when they are not, as
# measured for one problem; from so many bytes of weights on they are not.
ENTRY_NANOSECONDS, MISSED_NANOSECONDS, CACHE_BYTES = 0.8, 5.0, 32 << 20
# Bytes of an entry of sparse rows (value and column), and of dense ones.
SPARSE_ENTRY_BYTES, DENSE_ENTRY_BYTES = 12, 8
# Share of a machine's memory that rows may take.
ROWS_OF_MEMORY = 0.6
# Seconds that an engine takes for a round in which nothing happens, for each shard in turn: measured on one machine.
ENGINES = {"dask": 0.01, "spark": 0.15}


@dataclass(frozen=True)
class Estimate:
    """What training costs, by calculation.

    Attributes
    ----------
    bytes_per_round : int
        That each worker sends and receives.
    engine, moving, computing, reading : float
        Seconds of a round: scheduling; states up and down the tree; the epoch of the slowest worker; reading rows that
        do not stay in memory.
    round_seconds, seconds : float
        Of a round, and of all rounds.
    single_seconds : float
        Of as many epochs on one machine; rows that do not fit its memory are read from its disk in each.
    fits : bool
        Whether the rows fit the memory of one machine.
    advice : str
        What to do, as a sentence.
    """

    bytes_per_round: int
    engine: float
    moving: float
    computing: float
    reading: float
    round_seconds: float
    seconds: float
    single_seconds: float
    fits: bool
    advice: str

    def __str__(self) -> str:
        """Report the costs in a few lines."""
        return (
            f"A round: {self.round_seconds:.3g} s (engine {self.engine:.3g}, moving {self.moving:.3g}, computing "
            f"{self.computing:.3g}, reading {self.reading:.3g}); {self.bytes_per_round / 1e6:.3g} MB for each worker.\n"
            f"In all: {self.seconds:.3g} s, against {self.single_seconds:.3g} s on one machine.\n{self.advice}"
        )


def plan(
    data_bytes: float,
    weights: int,
    *,
    workers: int = 1,
    rounds: int = 10,
    shards: int | None = None,
    engine: str = "dask",
    averaged: bool = True,
    network: float = 1e9 / 8,
    disk: float = 5e8,
    memory: float = 16e9,
) -> Estimate:
    """Estimate the costs of training on a cluster, and say whether one machine would do.

    Parameters
    ----------
    data_bytes : float
        Bytes of the rows in memory: 12 for an entry of sparse rows, 8 for one of dense rows.
    weights : int
        Features times problems.
    workers, rounds : int
    shards : int, optional
        By default as many as there are workers.
    engine : {"dask", "spark"}
    averaged : bool
        Whether the model is an average, whose sums travel as well.
    network, disk : float
        Bytes per second of a machine.
    memory : float
        Bytes of a machine.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from rosenblatt.scaling import plan
    >>> print(plan(5e9, 2**18).advice)
    The rows fit the memory of one machine: stay there. shards= uses its cores.
    >>> plan(1e12, 2**20, workers=100, memory=64e9).fits
    False
    """
    given = {"data_bytes": data_bytes, "weights": weights, "workers": workers, "rounds": rounds}
    given |= {"shards": workers if shards is None else shards, "network": network, "disk": disk, "memory": memory}
    for name, value in given.items():
        if not (isinstance(value, int | float) and 0 < value < math.inf):
            raise InvalidInput(f"{name}={value!r} is not a positive number. Pass your own figure.")
    if engine not in ENGINES:
        raise InvalidInput(f"engine={engine!r} is not known. Choose one of {', '.join(map(repr, ENGINES))}.")
    state = 8.0 * weights
    nanoseconds = ENTRY_NANOSECONDS if state <= CACHE_BYTES else MISSED_NANOSECONDS
    epoch = data_bytes / SPARSE_ENTRY_BYTES * nanoseconds * 1e-9  # on one core
    # Weights go down to every worker, changes and sums come up a binary tree: so many bytes pass the driver's cable.
    up, levels = state * (2 if averaged else 1), math.ceil(math.log2(max(workers, 2)))
    moving = (up * levels + state * workers) / network
    own = data_bytes / workers
    reading = 0.0 if own <= ROWS_OF_MEMORY * memory else own / min(disk, network)
    fits = data_bytes <= ROWS_OF_MEMORY * memory
    overhead = ENGINES[engine] * given["shards"]
    total = overhead + moving + epoch / workers + reading
    single = rounds * (epoch + (0.0 if fits else data_bytes / disk))
    return Estimate(
        bytes_per_round=int(up + state),
        engine=overhead,
        moving=moving,
        computing=epoch / workers,
        reading=reading,
        round_seconds=total,
        seconds=rounds * total,
        single_seconds=single,
        fits=fits,
        advice=_advice(fits, rounds * total, single, workers, moving > epoch / workers + reading),
    )


def _advice(fits: bool, seconds: float, single: float, workers: int, moves: bool) -> str:
    if fits:
        return "The rows fit the memory of one machine: stay there. shards= uses its cores."
    if seconds >= single:
        why = " Moving the weights takes longest: use fewer features." if moves else ""
        return f"One machine that reads its disk in each epoch is no slower: stay there, with rosenblatt train.{why}"
    gain = single / seconds
    why = " Most of a round is moving weights: fewer features, or fewer workers, would gain more." if moves else ""
    return (
        f"{workers} workers are about {gain:.2g} times as fast as one machine that reads its disk in each epoch, if "
        f"mixing needs no more rounds than that needs epochs; wide rows may need several times as many.{why}"
    )
