"""`rosenblatt train`: in one piece, or on shards."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import click

from rosenblatt.cli.options import (
    Sections,
    check_targets,
    files_argument,
    input_options,
    json_option,
    note,
    option,
    print_json,
    quiet_option,
    reject_options,
    report_problems,
    take_input,
)
from rosenblatt.cli.output import ProgressBar, rows_of_files
from rosenblatt.cli.training import (
    SHARDED_LEARNER,
    WITHOUT_OPTION,
    Interruption,
    check_class_weight,
    class_weights,
    describe_run,
    job_of,
    shown_labels,
    take_learner,
    training_option,
    training_options,
)
from rosenblatt.data.memory import physical_memory
from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import estimate_collisions
from rosenblatt.files.opening import open_source
from rosenblatt.files.streams import can_be_read_once
from rosenblatt.learners.sharding import fit_shards
from rosenblatt.scaling.partitions import (
    HELD_SHARE,
    FileRows,
    in_groups,
    parsed_bytes,
    resolve_files,
    shard_of_files,
    shards_of_rows,
)
from rosenblatt.text import count
from rosenblatt.training.checkpoint import Checkpoint
from rosenblatt.training.chunked import learn_chunks
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.sharded import LocalShards

# Options that do not apply to shards.
WITHOUT_SHARDS = (
    *("holdout", "validation", "cache", "no_cache", "cache_bytes", "checkpoint", "every", "resume", "classes"),
)


@click.command(cls=Sections)
@files_argument
@option("-o", "--model", required=True, type=click.Path(dir_okay=False), help="File for the model.")
@training_options()
@training_option(
    "--holdout",
    type=click.IntRange(2),
    metavar="K",
    help="Hold out every K-th row to measure the error; stop when it no longer falls, and keep the best weights.",
)
@training_option(
    "--validation", type=click.Path(), metavar="FILE", help="Measure the error on the rows of this file instead."
)
@training_option(
    "--cache",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keep the parsed rows in this file for later passes and runs. By default, passes over large files use a "
    "temporary cache beside the model.",
)
@training_option("--no-cache", is_flag=True, help="Parse the files again in each pass.")
@training_option("--cache-bytes", type=click.IntRange(1), help="Maximum size of the cache.")
@training_option(
    "--checkpoint",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Checkpoint file; continue later with --resume.",
)
@training_option(
    "--every",
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between checkpoints.",
)
@training_option("--resume", is_flag=True, help="Continue from the checkpoint, if there is one.")
@training_option(
    "--dask",
    metavar="ADDRESS",
    help="Train on the cluster of this Dask scheduler, whose workers see the files under the same paths. Each file is "
    "a shard unless --shards sets their number.",
)
@quiet_option
@json_option
@input_options
@click.pass_context
def train(context: click.Context, /, **options: Any) -> None:
    """Train a model on data files.

    FILES may be svmlight, Vowpal Wabbit, CSV, TSV, JSON lines, text with a label before a tab, Parquet or Arrow, also
    compressed. Several files and patterns form one data set; - is standard input. They may be larger than memory.

    \b
    rosenblatt train mails.csv --model spam.model
    rosenblatt train --learner arow --holdout 10 day-*.svm.gz --model clicks.model
    """  # noqa: D301
    if options["resume"] and not options["checkpoint"]:
        raise click.UsageError("--resume continues from a checkpoint. Add --checkpoint FILE.")
    if options["holdout"] and options["validation"]:
        raise click.UsageError("--holdout and --validation exclude each other. Choose one.")
    if options["checkpoint"] is None:
        reject_options(("every",), "it is the time between checkpoints. Add --checkpoint FILE, or leave it out.")
    if options["no_cache"] and options["shuffle"]:
        raise click.UsageError("--shuffle needs a cache, which --no-cache disables. Leave out one of them.")
    if options["no_cache"]:
        reject_options(("cache", "cache_bytes"), "--no-cache disables the cache. Leave out one of them.")
    written = {name: options[name] for name in ("model", "cache", "checkpoint")}
    check_targets((*options["files"], options["validation"]), **written)
    if options["dask"] is not None or (options["shards"] or 1) != 1:
        reject_options(WITHOUT_SHARDS, "it is for training without shards. Leave it out, or --shards and --dask.")
        if context.get_parameter_source("learner") is click.core.ParameterSource.DEFAULT:
            options["learner"] = SHARDED_LEARNER
        _train_on_shards(options)
        context.exit(0)
    reject_options(("mixes",), "it sets how often shards are mixed. Add --shards K, or leave it out.")
    keep_memory()
    with ExitStack() as stack:
        context.exit(_Training(options, stack).run())


def keep_memory() -> None:
    """Let the process keep freed memory: threads that parse would wait for fresh pages, a fifth of the time."""
    with suppress(OSError, AttributeError):  # only glibc has this
        library = ctypes.CDLL(None)
        for threshold in (-3, -1):  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
            library.mallopt(threshold, 1 << 30)


class _Training:
    """Training in one piece."""

    def __init__(self, options: dict[str, Any], stack: ExitStack) -> None:
        self.quiet, self.as_json = options.pop("quiet"), options.pop("as_json")
        self.path = options.pop("model")
        options.pop("dask")
        self.checkpoint_path, self.every = options.pop("checkpoint"), options.pop("every")
        self.resume, self.warned = options.pop("resume"), False
        self.interruption = Interruption()
        self.source = stack.enter_context(self._open(options))
        self.temporary: str | None = self.cache if self.removes_cache else None
        validation, holdout = options.pop("validation"), options.pop("holdout")
        self.settings, job = job_of(self.source, options, validates=bool(validation or holdout))
        self.progress = ProgressBar(self.source, job.plan.max_iter, self.quiet or self.as_json)
        self.checkpoint: Checkpoint | None = None
        if self.checkpoint_path is not None:
            content = [self.source.digest(), self.settings, holdout, validation]
            identity = hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()
            self.checkpoint = Checkpoint(self.checkpoint_path, self.every, identity)
        plan = replace(job.plan, callback=self._after_epoch)
        self.job = replace(
            job,
            plan=plan,
            hold_out=(holdout, holdout - 1) if holdout else None,
            after_chunk=self._after_chunk,
            interrupted=self.interruption,
        )
        if validation:
            self.job = replace(self.job, validation=_SameReading(self.source, validation))

    def _open(self, options: dict[str, Any]) -> Any:
        settings = take_input(options)
        files = list(options.pop("files"))
        cache, without = options.pop("cache"), options.pop("no_cache")
        limit = options.pop("cache_bytes")
        several = options["max_iter"] > 1
        needed = options["shuffle"] or any(map(can_be_read_once, files)) or _are_large(files)
        self.removes_cache = cache is None and not without and several and needed
        self.cache = f"{self.path}.cache" if self.removes_cache else cache
        if self.cache is not None:
            settings["cache"] = self.cache
            if limit:
                settings["cache_bytes"] = limit
        source = open_source(files, learns=True, **settings)
        if not source.again and several and self.cache is None:
            raise InvalidInput(
                "Standard input can be read only once, and --no-cache keeps no rows for further passes. Leave it out, "
                "or pass --max-iter 1."
            )
        return source

    # -------------------------------------------------------------------------------------------------- while it runs

    def _after_chunk(self, runner: Any) -> None:
        self.progress.after_chunk(runner)
        if self.checkpoint is not None:
            self._write_checkpoint(self.checkpoint, runner)

    def _write_checkpoint(self, checkpoint: Checkpoint, runner: Any) -> None:
        """Write a checkpoint if it is due. If the disk is full, warn and continue."""
        try:
            if self.interruption():
                checkpoint.write(runner)
            else:
                checkpoint.after_chunk(runner)
        except OSError as error:
            if not self.warned:
                self.progress.clear()
                last = "the last one is kept" if os.path.exists(self.checkpoint_path) else "there is none yet"
                note(
                    f"warning: the checkpoint {self.checkpoint_path} cannot be written ({error.strerror}): {last}, and "
                    "training continues."
                )
            self.warned = True

    def _after_epoch(self, epoch: Any) -> bool:
        self.progress.after_epoch(epoch)
        return self.interruption()

    def run(self) -> int:
        """Train, write the model, and return the exit code."""
        resume = self.checkpoint.resume() if self.resume and self.checkpoint else None
        if self.resume:
            note("Resuming." if resume else "There is no checkpoint yet: starting from the beginning.", self.quiet)
        try:
            with self.interruption.watched():
                outcome = learn_chunks(self.job, resume)
        finally:
            self.progress.clear()
            if self.temporary is not None and os.path.exists(self.temporary):
                os.unlink(self.temporary)
        model = self._model(outcome)
        model.save(self.path)
        if self.checkpoint is not None and not self.interruption():
            self.checkpoint.remove()
        self._report(outcome, model)
        return 130 if self.interruption() else 0

    def _model(self, outcome: Any) -> Any:
        names, width = self.source.names, outcome.learned.state.W.shape[1]
        origin = {"reading": self.source.reading.to_json(), "training": self.settings | describe_run(outcome.run)}
        if self.source.scaling is not None:
            origin["scaling"] = [list(part) for part in self.source.scaling]
        if self.resume:
            self.source.find_encoding()
        if self.source.utf8 is not None:
            origin["utf8"] = self.source.utf8
        model = outcome.model(origin=origin)
        if names is None:
            return model
        return replace(
            model, W=model.W[:, : len(names)].copy() if len(names) < width else model.W, feature_names=tuple(names)
        )

    def _report(self, outcome: Any, model: Any) -> None:
        run, files = outcome.run, self.source.rows_by_file()
        report_problems(self.source, self.quiet)
        if self.as_json:
            print_json(
                {"model": self.path, "seconds": run.seconds, "labels": model.classes.tolist(), "files": files}
                | self.settings
                | describe_run(run)
            )
            return
        if self.quiet:
            return
        if files:
            note(rows_of_files(files))
        if model.classes.size:
            note(f"labels: {shown_labels(model.classes)}")
        if outcome.in_runs and self.job.plan.order == "cyclic":
            # Rows that are scaled by those before them are kept as they are for further passes.
            remedy = "." if self.source.reading.features.standardise else ", or add --shuffle."
            note(f"The rows are grouped by label, which hurts learning. Shuffle the lines of the file{remedy}")
        self._hold_out(outcome)
        self._collisions()
        note(f"It stopped because {run.reason}")
        if self.interruption():
            resumable = self.checkpoint is not None and os.path.exists(self.checkpoint_path)
            more = " Add --resume to continue." if resumable else ""
            note(f"Interrupted: the model so far is in {self.path}.{more}")
        else:
            trials = f"{count(run.trials, 'trial')} in {count(run.epochs, 'epoch')}, {run.seconds:.1f} s"
            note(f"The model is in {self.path} ({trials}).")

    def _hold_out(self, outcome: Any) -> None:
        """Advise to hold rows out, if the last weights predict and an earlier epoch made fewer mistakes."""
        algorithm, mistakes = outcome.settings.algorithm, outcome.run.mistakes
        last_predict = isinstance(algorithm, FirstOrder) and not algorithm.averaged and self.job.plan.keep == "last"
        if last_predict and mistakes and mistakes[-1] > min(mistakes):
            note(
                f"Epoch {mistakes.index(min(mistakes)) + 1} made fewer mistakes than the last, whose weights the model "
                "has. Add --holdout 10 to keep the best."
            )

    def _collisions(self) -> None:
        used, columns = self.source.columns_used(), self.source.n_features
        if self.source.names is None and used and self.source.reading.format != "svmlight":
            estimate = estimate_collisions(used, columns)
            note(
                f"{used} of {columns} columns are used: about {count(round(estimate.features), 'feature')}, of which "
                f"{estimate.collided / max(estimate.features, 1):.1%} share a column with another."
            )


class _SameReading:
    """The rows of another file, read with the names and the scaling of the training so far."""

    def __init__(self, source: Any, path: str) -> None:
        if can_be_read_once(path):
            raise click.UsageError("--validation reads its file after each pass. Pass a file, not standard input.")
        self.source, self.path = source, path
        self._open()  # reports a fault of the file before the training

    def _open(self) -> Any:
        reading = self.source.reading
        names = self.source.names if reading.features.dictionary else None
        scaling, utf8 = self.source.scaling, self.source.utf8
        return open_source([self.path], reading=reading, names=names or None, scaling=scaling, utf8=utf8)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._open())


def _are_large(files: list[str]) -> bool:
    """Return whether a cache saves time: files of less than 16 MB are parsed again as fast."""
    try:
        return sum(os.path.getsize(path) for path in files) > 1 << 24
    except OSError:  # a pattern, or a file that cannot be read, which the source will report
        return True


# ------------------------------------------------------------------------------------------------------------- shards


def _train_on_shards(options: dict[str, Any]) -> None:
    """Train on shards, on threads or on a cluster, and write the model."""
    quiet, path, address = options["quiet"] or options["as_json"], options["model"], options["dask"]
    how_to_read, files = take_input(options), list(options["files"])
    name, learner = take_learner(options)
    parameters = learner.get_params(deep=False)
    settings = {key: options[key] for key in ("max_iter", "shuffle", "class_weight")}
    paths, reading, names, notes = resolve_files(files, how_to_read)
    rows = FileRows(paths, reading)
    for text in notes:
        note(text, quiet)
    weight = class_weights(options["class_weight"], reading["reading"].label_type == "number")
    explicit = settings | {"class_weight": weight, "keep": parameters.get("keep") or "last"}
    estimator = type(learner)(**parameters | explicit)
    epochs = int(estimator.max_iter)
    if address:
        from rosenblatt.scaling.dask import connect, fit

        with connect(address) as client:
            shards = "partitions" if estimator.shards == 1 else int(estimator.shards)
            fitted = fit(estimator, files, client=client, shards=shards, rounds=epochs, **how_to_read)
    else:
        fitted = fit_shards(estimator, _shards_of(estimator, rows, names), rounds=epochs)
    parameters = {key: value for key, value in parameters.items() if key not in WITHOUT_OPTION}
    training = {"learner": name, "parameters": parameters | settings | {"shards": fitted.shards}}
    training |= describe_run(fitted.run_)
    model = fitted._stream.model()
    check_class_weight(weight, model.classes)
    origin = {"reading": reading["reading"].to_json(), "training": training, "utf8": reading["utf8"]}
    replace(model, origin=origin, feature_names=names or ()).save(path)
    if options["as_json"]:
        print_json({"model": path, "seconds": fitted.run_.seconds, "labels": model.classes.tolist()} | training)
        return
    if rows.counted:
        note(rows_of_files({path: rows.counted[path] for path in paths}), quiet)
    note(f"labels: {shown_labels(model.classes)}", quiet)
    note(f"It stopped because {fitted.stop_reason_}", quiet)
    note(f"The model is in {path} ({count(fitted.shards, 'shard')}, {fitted.run_.seconds:.1f} s).", quiet)


def _shards_of(estimator: Any, rows: FileRows, names: tuple[str, ...]) -> LocalShards:
    """Return groups of files as shards, as on Dask; or shares of the rows, if there are fewer files than shards."""
    shards, jobs = int(estimator.shards), estimator.n_jobs
    threads = (os.cpu_count() or 1) if jobs is None or jobs < 0 else int(jobs)
    if len(rows.paths) < shards:
        return LocalShards(shards_of_rows(rows, names, shards), threads)
    hold = parsed_bytes(rows.paths) <= HELD_SHARE * physical_memory()
    groups = [replace(rows, paths=group) for group in in_groups(rows.paths, shards)]  # all count into one dict
    return LocalShards([shard_of_files(k, group, names, hold) for k, group in enumerate(groups)], threads)
