"""`rosenblatt train`."""

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
    refuse_given,
    report_problems,
    take_input,
)
from rosenblatt.cli.output import Watch, rows_of_files
from rosenblatt.cli.sharding import WHOLE, train_on_shards, wants_shards
from rosenblatt.cli.training import Interruption, describe_run, job_of, shown_labels, training_options
from rosenblatt.text import count

_TRAINING = "Training"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
# Files below this size are read again in each pass: a cache would not pay.
SMALL_BYTES = 1 << 24


@click.command(cls=Sections)
@files_argument
@option("-o", "--model", required=True, type=click.Path(dir_okay=False), help="Where to write the model.")
@training_options()
@option(
    "--holdout",
    section=_TRAINING,
    type=click.IntRange(2),
    metavar="K",
    help="Measure the error on every K-th row, which is not trained on; end when it no longer falls, keep the best "
    "weights.",
)
@option(
    "--validation", section=_TRAINING, type=click.Path(), metavar="FILE", help="The same with the rows of another file."
)
@option(
    "--cache",
    section=_TRAINING,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keep the parsed rows here for the next passes and trainings. By default, passes over large files use a cache "
    "beside the model, which is removed at the end.",
)
@option("--no-cache", section=_TRAINING, is_flag=True, help="Read the files anew in each pass.")
@option("--cache-bytes", section=_TRAINING, type=click.IntRange(1), help="The most that the cache may take.")
@option(
    "--checkpoint",
    section=_TRAINING,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write down here how far the training is, so that it can be resumed.",
)
@option(
    "--every",
    section=_TRAINING,
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two checkpoints.",
)
@option("--resume", section=_TRAINING, is_flag=True, help="Go on from the checkpoint, if there is one.")
@option(
    "--dask",
    section=_TRAINING,
    metavar="ADDRESS",
    help="Train on the cluster of this Dask scheduler, whose workers see the files under the same paths. Each file is "
    "a shard, unless --shards says how many.",
)
@quiet_option
@json_option
@input_options
@click.pass_context
def train(context: click.Context, /, **options: Any) -> None:
    """Train a model on data files.

    FILES may be svmlight, Vowpal Wabbit, CSV, TSV, JSON lines, text with a label before a tab, Parquet or Arrow, packed
    or not; several files and patterns are one data set, and - is standard input. They may be larger than memory.

    \b
    rosenblatt train mails.csv --model spam.model
    rosenblatt train --learner arow --holdout 10 day-*.svm.gz --model clicks.model
    """  # noqa: D301
    if options["resume"] and not options["checkpoint"]:
        raise click.UsageError("--resume needs --checkpoint FILE, to know where to go on.")
    if options["holdout"] and options["validation"]:
        raise click.UsageError("--holdout and --validation are two ways to measure the same. Choose one.")
    if options["checkpoint"] is None:
        refuse_given(("every",), "it is the time between two checkpoints. Add --checkpoint FILE, or leave it out.")
    if options["no_cache"] and options["shuffle"]:
        raise click.UsageError("--shuffle reads rows from a cache, which --no-cache forbids. Leave out one of them.")
    if options["no_cache"]:
        refuse_given(("cache", "cache_bytes"), "--no-cache keeps none. Leave out one of them.")
    written = {name: options[name] for name in ("model", "cache", "checkpoint")}
    check_targets((*options["files"], options["validation"]), **written)
    if wants_shards(options):
        refuse_given(WHOLE, "it is for training without shards. Leave it out, or --shards and --dask.")
        context.exit(train_on_shards(options))
    refuse_given(("mixes",), "it says how often shards are mixed. Add --shards K, or leave it out.")
    keep_memory()
    with ExitStack() as stack:
        context.exit(_Training(options, stack).run())


def keep_memory() -> None:
    """Let the process keep memory that it has freed: threads that parse would wait for fresh pages."""
    with suppress(OSError, AttributeError):  # only the C library of GNU has this
        library = ctypes.CDLL(None)
        for parameter in (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD):
            library.mallopt(parameter, 1 << 30)


class _Training:
    """One call of the command."""

    def __init__(self, options: dict[str, Any], stack: ExitStack) -> None:
        self.quiet, self.as_json = options.pop("quiet"), options.pop("as_json")
        self.path = options.pop("model")
        options.pop("dask")
        self.checkpoint_path, self.every = options.pop("checkpoint"), options.pop("every")
        self.resume, self.unwritten = options.pop("resume"), False
        self.interruption = Interruption()
        self.source = stack.enter_context(self._open(options))
        self.temporary: str | None = self.cache if self.removes_cache else None
        validation, holdout = options.pop("validation"), options.pop("holdout")
        self.told, job = job_of(self.source, options, validates=bool(validation or holdout))
        self.watch = Watch(self.source, job.plan.epochs, self.quiet or self.as_json)
        self.checkpoint = self._checkpoint(job, holdout, validation)
        plan = replace(job.plan, callback=self._after_epoch)
        self.job = replace(
            job,
            plan=plan,
            hold_out=(holdout, holdout - 1) if holdout else None,
            after_chunk=self._after_chunk,
            interrupted=self.interruption,
        )
        self.validation = validation
        if validation:
            self.job = replace(self.job, validation=_Like(self.source, validation))

    def _open(self, options: dict[str, Any]) -> Any:
        from rosenblatt.files.opening import open_source

        given = take_input(options)
        files = list(options.pop("files"))
        cache, without = options.pop("cache"), options.pop("no_cache")
        limit = options.pop("cache_bytes")
        several = options["max_iter"] > 1
        self.removes_cache = cache is None and not without and several and (options["shuffle"] or _are_large(files))
        self.cache = f"{self.path}.cache" if self.removes_cache else cache
        if self.cache is not None:
            given["cache"] = self.cache
            if limit:
                given["cache_bytes"] = limit
        source = open_source(files, **given)
        if not source.again and several and self.cache is None:
            from rosenblatt.errors import InvalidInput

            raise InvalidInput("Standard input can be read only once. Pass --max-iter 1, or --cache FILE.")
        return source

    def _checkpoint(self, job: Any, holdout: Any, validation: Any) -> Any:
        if self.checkpoint_path is None:
            return None
        from rosenblatt.training.checkpoint import Checkpoint

        content = [self.source.digest(), self.told, holdout, validation]
        identity = hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()
        return Checkpoint(self.checkpoint_path, self.every, identity)

    # -------------------------------------------------------------------------------------------------- while it runs

    def _after_chunk(self, runner: Any) -> None:
        self.watch.after_chunk(runner)
        if self.checkpoint is not None:
            self._write_checkpoint(runner)

    def _write_checkpoint(self, runner: Any) -> None:
        """Write a checkpoint, if it is time to. A full disk is no reason to lose the training."""
        try:
            if self.interruption():
                self.checkpoint.write(runner)
            else:
                self.checkpoint.after_chunk(runner)
        except OSError as error:
            if not self.unwritten:
                self.watch.clear()
                last = "the last one stays" if os.path.exists(self.checkpoint_path) else "there is none so far"
                note(
                    f"warning: the checkpoint {self.checkpoint_path} cannot be written ({error.strerror}): {last}, and "
                    "training goes on."
                )
            self.unwritten = True

    def _after_epoch(self, epoch: Any) -> bool:
        self.watch.after_epoch(epoch)
        return self.interruption()

    def run(self) -> int:
        """Train, write the model, and return the exit code."""
        from rosenblatt.training.chunked import learn_chunks

        resume = self.checkpoint.resume() if self.resume else None
        if self.resume:
            note("Resuming." if resume else "There is no checkpoint yet: training begins.", self.quiet)
        try:
            with self.interruption.watched():
                outcome = learn_chunks(self.job, resume)
        finally:
            self.watch.clear()
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
        origin = {"reading": self.source.reading.to_json(), "training": self.told | describe_run(outcome.run)}
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
                | self.told
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
            note("Rows with the same label come together, which learning suffers from: shuffle the file, or --shuffle.")
        self._collisions()
        note(f"It stopped because {run.reason}")
        if self.interruption():
            resumable = self.checkpoint is not None and os.path.exists(self.checkpoint_path)
            more = " Add --resume to go on." if resumable else ""
            note(f"Interrupted: the model so far is in {self.path}.{more}")
        else:
            trials = f"{count(run.trials, 'trial')} in {count(run.epochs, 'epoch')}, {run.seconds:.1f} s"
            note(f"The model is in {self.path} ({trials}).")

    def _collisions(self) -> None:
        from rosenblatt.files.features import estimate_collisions

        used, columns = self.source.columns_used(), self.source.n_features
        if self.source.names is None and used and self.source.reading.format != "svmlight":
            found = estimate_collisions(used, columns)
            note(
                f"{used} of {columns} columns are used: about {count(round(found.features), 'feature')}, of which "
                f"{found.collided / max(found.features, 1):.1%} share a column with another."
            )


class _Like:
    """The rows of another file, with the names and the scaling that training has found so far."""

    def __init__(self, source: Any, path: str) -> None:
        from rosenblatt.files.streams import can_be_read_once

        if can_be_read_once(path):
            raise click.UsageError("--validation reads its file after each pass. Pass a file, not standard input.")
        self.source, self.path = source, path
        self._open()  # what is wrong with the file is said before the training

    def _open(self) -> Any:
        from rosenblatt.files.opening import open_source

        reading = self.source.reading
        names = self.source.names if reading.features.dictionary else None
        known = {"names": names or None, "scaling": self.source.scaling, "utf8": self.source.utf8}
        return open_source([self.path], reading=reading, **known)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._open())


def _are_large(files: list[str]) -> bool:
    try:
        return "-" not in files and sum(os.path.getsize(path) for path in files) > SMALL_BYTES
    except OSError:  # a pattern, or what cannot be read, of which the source will speak
        return True
