"""`rosenblatt train --shards` and `--dask`: training on shards, on threads or on a cluster."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.options import note, print_json, take_input
from rosenblatt.cli.output import rows_of_files
from rosenblatt.cli.training import (
    WITHOUT_OPTION,
    check_class_weight,
    class_weights,
    describe_run,
    shown_labels,
    take_learner,
)
from rosenblatt.text import count

if TYPE_CHECKING:
    from rosenblatt.scaling.partitions import FileRows
    from rosenblatt.training.sharded import Shards

# Share of the memory of this machine up to which the rows of files are kept in it.
HELD_SHARE = 0.4
# Options of training in one piece.
WHOLE = ("holdout", "validation", "cache", "no_cache", "cache_bytes", "checkpoint", "every", "resume", "classes")


def wants_shards(options: dict[str, Any]) -> bool:
    """Return whether the options ask for shards."""
    return options["dask"] is not None or (options["shards"] or 1) != 1


def train_on_shards(options: dict[str, Any]) -> int:
    """Train on shards, write the model, and return the exit code."""
    quiet, path, address = options["quiet"] or options["as_json"], options["model"], options["dask"]
    given, files = take_input(options), list(options["files"])
    name, learner = take_learner(options)
    parameters = learner.get_params(deep=False)
    told = {"max_iter": options["max_iter"], "shuffle": options["shuffle"], "class_weight": options["class_weight"]}

    from rosenblatt.scaling.partitions import FileRows, decided

    paths, reading, names, notes = decided(files, given)
    rows = FileRows(paths, reading)
    for text in notes:
        note(text, quiet)
    numeric = reading["reading"].label_type == "number"
    weight = class_weights(options["class_weight"], numeric)
    chosen = told | {"class_weight": weight, "keep": parameters.get("keep") or "last"}
    estimator = type(learner)(**parameters | chosen)
    fitted = _on_dask(address, estimator, files, given) if address else _here(estimator, rows, names)
    parameters = {key: value for key, value in parameters.items() if key not in WITHOUT_OPTION}
    training = {"learner": name, "parameters": parameters | told | {"shards": fitted.shards}}
    training |= describe_run(fitted.run_)
    model = fitted._stream.model()
    check_class_weight(weight, model.classes)
    origin = {"reading": reading["reading"].to_json(), "training": training, "utf8": reading["utf8"]}
    replace(model, origin=origin, feature_names=names or ()).save(path)
    if options["as_json"]:
        print_json({"model": path, "seconds": fitted.run_.seconds, "labels": model.classes.tolist()} | training)
        return 0
    if rows.counted:
        note(rows_of_files({path: rows.counted[path] for path in paths}), quiet)
    note(f"labels: {shown_labels(model.classes)}", quiet)
    note(f"It stopped because {fitted.stop_reason_}", quiet)
    note(f"The model is in {path} ({count(fitted.shards, 'shard')}, {fitted.run_.seconds:.1f} s).", quiet)
    return 0


def _on_dask(address: str, estimator: Any, files: list[str], given: dict[str, Any]) -> Any:
    """Train on the cluster of a scheduler."""
    from rosenblatt.scaling.dask import connect, fit

    with connect(address) as client:
        shards = "partitions" if estimator.shards == 1 else int(estimator.shards)
        return fit(estimator, files, client=client, shards=shards, rounds=int(estimator.max_iter), **given)


def _here(estimator: Any, rows: FileRows, names: tuple[str, ...]) -> Any:
    """Train on the threads of this machine."""
    from rosenblatt.learners.sharding import fit_shards

    return fit_shards(estimator, _shards(estimator, rows, names), rounds=int(estimator.max_iter))


def _shards(estimator: Any, rows: FileRows, names: tuple[str, ...]) -> Shards:
    """Return groups of files as shards, as Dask has them; or shares of the rows, where there are fewer files."""
    from rosenblatt.data.memory import physical_memory
    from rosenblatt.scaling.partitions import in_groups, parsed_bytes, shard_of_files, shards_of_rows
    from rosenblatt.training.sharded import OnThreads

    count, jobs = int(estimator.shards), estimator.n_jobs
    threads = (os.cpu_count() or 1) if jobs is None or jobs < 0 else int(jobs)
    if len(rows.paths) < count:
        return OnThreads(shards_of_rows(rows, names, count), threads)
    hold = parsed_bytes(rows.paths) <= HELD_SHARE * physical_memory()
    groups = [replace(rows, paths=group) for group in in_groups(rows.paths, count)]  # which count into one dict
    return OnThreads([shard_of_files(k, group, names, hold) for k, group in enumerate(groups)], threads)
