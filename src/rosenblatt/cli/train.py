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
import numpy as np

from rosenblatt.cli.options import (
    INPUT_NAMES,
    REUSED_NAMES,
    SHORT_FOR,
    Sections,
    check_targets,
    files_argument,
    input_options,
    json_option,
    matrix_of,
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
    job_of_learner,
    shown_labels,
    take_learner,
    take_more,
    training_option,
    training_options,
)
from rosenblatt.data.memory import physical_memory
from rosenblatt.data.survey import outweighs, survey
from rosenblatt.errors import InvalidInput
from rosenblatt.files.features import estimate_collisions
from rosenblatt.files.names import NO_NAMES
from rosenblatt.files.opening import open_source
from rosenblatt.files.options import DATE_KINDS
from rosenblatt.files.reader import RowReader
from rosenblatt.files.streams import can_be_read_once
from rosenblatt.learners.file_model import FileModel, added
from rosenblatt.learners.saving import load, save
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
from rosenblatt.training.calibration import Sigmoids, calibrate
from rosenblatt.training.checkpoint import Checkpoint
from rosenblatt.training.chunked import learn_chunks
from rosenblatt.training.first_order import FirstOrder
from rosenblatt.training.multiclass import class_costs
from rosenblatt.training.sharded import LocalShards

# Options that do not apply to shards.
WITHOUT_SHARDS = (
    *("start", "holdout", "validation", "calibrate", "cache", "no_cache", "cache_bytes", "classes"),
    *("checkpoint", "checkpoint_every", "resume"),
)
# Rows that are held out to calibrate on, unless others are named.
CALIBRATION_HOLDOUT = 10


@click.command(cls=Sections)
@files_argument
@option("-m", "--model", type=click.Path(dir_okay=False), help="File for the model; by default that of --from.")
@option(
    "--from",
    "start",
    type=click.Path(dir_okay=False),
    metavar="MODEL",
    help="Train this model further, as it was trained before.",
)
@option("--overwrite", is_flag=True, help="Replace a model that exists already.")
@training_options()
@training_option(
    "--holdout",
    type=click.IntRange(2),
    metavar="K",
    help="Hold out every K-th row, and keep the weights with the least error on them.",
)
@training_option("--validation", type=click.Path(), metavar="FILE", help="The same with the rows of this file.")
@training_option(
    "--calibrate",
    is_flag=True,
    help="Fit probabilities to held-out rows, by default every 10th, for predict --proba.",
)
@training_option(
    "--cache",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    common=False,
    help="Keep the parsed rows in a file for later runs.",
)
@training_option("--no-cache", is_flag=True, common=False, help="Parse the files again in each pass.")
@training_option("--cache-bytes", type=click.IntRange(1), common=False, help="Maximum size of the cache.")
@training_option(
    "--checkpoint",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write checkpoints, for --resume.",
)
@training_option(
    "--checkpoint-every",
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    common=False,
    help="Time between checkpoints.",
)
@training_option("--resume", is_flag=True, help="Continue from the checkpoint, if any.")
@training_option(
    "--keep-names",
    type=click.IntRange(0),
    default=20_000,
    show_default=True,
    common=False,
    metavar="N",
    help="Keep up to N names of hashed features, from the first rows, in the model; info prints them.",
)
@training_option(
    "--dask",
    metavar="ADDRESS",
    common=False,
    help="Train on the cluster of this Dask scheduler, whose workers see the files under the same paths. Each file is "
    "a shard unless --shards sets their number.",
)
@quiet_option
@json_option
@input_options
@click.pass_context
def train(context: click.Context, /, **options: Any) -> None:
    """Train a model on data files.

    DATA are files of any format below, also compressed, and larger than memory; - is standard input.

    \b
    rosenblatt train mails.csv --model spam.model
    rosenblatt train day-*.svm.gz --model clicks.model --learner arow --holdout 10
    rosenblatt train tuesday.svm.gz --from clicks.model
    rosenblatt train --learner arow --help      # its parameters
    """  # noqa: D301
    options["model"] = options["model"] or options["start"]
    if options["model"] is None:
        raise click.UsageError("Missing option '-m' / '--model': the file for the model.")
    if options["resume"] and not options["checkpoint"]:
        raise click.UsageError("--resume continues from a checkpoint. Add --checkpoint FILE.")
    if options["holdout"] and options["validation"]:
        raise click.UsageError("--holdout and --validation exclude each other. Choose one.")
    if options["checkpoint"] is None:
        reject_options(
            ("checkpoint_every",), "it is the time between checkpoints. Add --checkpoint FILE, or leave it out."
        )
    if options["no_cache"] and options["shuffle"]:
        raise click.UsageError("--shuffle needs a cache, which --no-cache disables. Leave out one of them.")
    if options["no_cache"]:
        reject_options(("cache", "cache_bytes"), "--no-cache disables the cache. Leave out one of them.")
    written = {name: options[name] for name in ("model", "cache", "checkpoint")}
    same = options["start"] is not None and os.path.realpath(options["start"]) == os.path.realpath(options["model"])
    check_targets((*options["files"], options["validation"], None if same else options["start"]), **written)
    _check_overwriting(options, same)
    if options["dask"] is not None or (options["shards"] or 1) != 1:
        reject_options(WITHOUT_SHARDS, "it is for training without shards. Leave it out, or --shards and --dask.")
        if context.get_parameter_source("learner") is click.core.ParameterSource.DEFAULT:
            options["learner"] = SHARDED_LEARNER
        _train_on_shards(options)
        context.exit(0)
    if options["max_iter"] == 1:
        reject_options(("shuffle",), "the first pass reads the rows in order. Allow more --epochs, or leave it out.")
    reject_options(("mixes",), "it sets how often shards are mixed. Add --shards K, or leave it out.")
    keep_memory()
    with ExitStack() as stack:
        context.exit(_Training(options, stack).run())


def _check_overwriting(options: dict[str, Any], same: bool) -> None:
    """Raise an error if a model exists that this training would replace without --overwrite."""
    path, overwrite = options["model"], options.pop("overwrite")
    resumes = options["resume"] and os.path.exists(options["checkpoint"])  # of a training that was interrupted
    if os.path.isfile(path) and not (same or overwrite or resumes):
        raise click.UsageError(
            f"{path} exists. To replace it, add --overwrite; to train it further, add --from {path}."
        )


def keep_memory() -> None:
    """Let the process keep freed memory: threads that parse would wait for fresh pages, a fifth of the time."""
    with suppress(OSError, AttributeError, TypeError):  # only glibc has this; on Windows None is no library
        library = ctypes.CDLL(None)
        for threshold in (-3, -1):  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
            library.mallopt(threshold, 1 << 30)


class _Training:
    """Training in one piece."""

    def __init__(self, options: dict[str, Any], stack: ExitStack) -> None:
        self.quiet, self.as_json = options.pop("quiet"), options.pop("as_json")
        self.path = options.pop("model")
        options.pop("dask")
        self.checkpoint_path, self.every = options.pop("checkpoint"), options.pop("checkpoint_every")
        self.resume, self.warned = options.pop("resume"), False
        self.interruption = Interruption()
        self.start = options.pop("start")
        self.before = None if self.start is None else _load(self.start)
        before = self.before
        self.known = None if before is None else before.classes_
        name, self.learner = take_learner(options) if before is None else take_more(options, before)
        self.source = stack.enter_context(self._open(options))
        self.names = self.source.first_names(options.pop("keep_names"), NO_NAMES if before is None else before.names)
        self.temporary: str | None = self.cache if self.removes_cache else None
        validation, holdout = options.pop("validation"), options.pop("holdout")
        self.calibrates = options.pop("calibrate")
        if self.calibrates and not validation and not holdout:
            holdout = CALIBRATION_HOLDOUT
            note(f"Every {holdout}th row is held out, to calibrate on and to choose the best epoch.", self.quiet)
        elif before is not None and before.sigmoids is not None and not self.calibrates:
            note("Probabilities are those that were calibrated before; add --calibrate to fit them again.", self.quiet)
        self.settings, job = job_of_learner(
            name,
            self.learner,
            self.source,
            options,
            validates=bool(validation or holdout),
            start=None if before is None else before.start,
        )
        if job.regression:
            reject_options(("calibrate",), "this learner predicts numbers, not classes. Leave it out.")
        self.progress = ProgressBar(self.source, job.plan.max_iter, self.quiet or self.as_json)
        self.checkpoint: Checkpoint | None = None
        if self.checkpoint_path is not None:
            content = [self.source.digest(), self.settings, holdout, validation, self.start and _digest(self.start)]
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
        settings = take_input(options) if self.before is None else _same_input(options, self.before.reader)
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
        else:
            reject_options(("cache_bytes",), "these files need no cache. Add --cache FILE, or leave it out.")
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
        if self.calibrates and not self.interruption():
            model.sigmoids = self._calibrated(model)
        save(model, self.path)
        if self.checkpoint is not None and not self.interruption():
            self.checkpoint.remove()
        self._report(outcome, model)
        return 130 if self.interruption() else 0

    def _model(self, outcome: Any) -> FileModel:
        if self.resume:
            self.source.find_encoding()
        before = None
        if self.before is not None:
            before = self.before.record_before if outcome.continued else self.before.training
        record = self.settings | describe_run(outcome.run)
        trained(self.learner, outcome)
        calibration = None if self.before is None else self.before.sigmoids
        reader = reader_of(self.source)
        return FileModel(self.learner, reader, added(before, record), outcome.opened, before, self.names, calibration)

    def _calibrated(self, model: FileModel) -> Sigmoids:
        """Return sigmoids that are fitted to the held-out rows."""
        linear = replace(model.linear(), origin=None)
        return calibrate(self._held_out(linear), linear.classes)

    def _held_out(self, model: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Yield labels, class scores and weights of the held-out rows, chunk by chunk."""
        every, first = self.job.hold_out or (1, 0)
        source = self.source if self.job.validation is None else self.job.validation
        start = 0
        for chunk in source:
            held_out = np.flatnonzero((np.arange(start, start + chunk.label.size) - first) % every == 0)
            start += chunk.label.size
            if held_out.size:
                weight = None if chunk.weight is None else chunk.weight[held_out]
                yield chunk.label[held_out], model.class_scores(matrix_of(model, chunk.table)[held_out]), weight

    def _report(self, outcome: Any, model: Any) -> None:
        run, files = outcome.run, self.source.rows_by_file()
        report_problems(self.source, self.quiet)
        if self.as_json:
            print_json(
                {"model": self.path, "seconds": run.seconds, "labels": model.classes_.tolist(), "files": files}
                | model.training
            )
            return
        if self.quiet:
            return
        if files:
            note(rows_of_files(files))
        if model.classes_.size:
            note(f"labels: {shown_labels(model.classes_)}")
        if self.known is not None and model.classes_.size > self.known.size:
            new = shown_labels(np.setdiff1d(model.classes_, self.known))
            note(
                f"New labels: {new}. They start from zero weights: to have those of one training on all rows, announce "
                "labels by --classes in the first one."
            )
            if self.before is not None and self.before.sigmoids is not None and not self.calibrates:
                note("The probabilities of before do not fit the new labels: add --calibrate to have some.")
        if outcome.in_runs and self.job.plan.order == "cyclic":
            # Rows that are scaled by those before them are kept as they are for further passes.
            remedy = "." if self.source.reading.features.standardise else ", or add --shuffle."
            note(f"The rows are grouped by label, which hurts learning. Shuffle the lines of the file{remedy}")
        self._scale(outcome, model)
        self._hold_out(outcome)
        self._collisions()
        note(f"It stopped because {run.reason}")
        if self.interruption():
            resumable = self.checkpoint is not None and os.path.exists(self.checkpoint_path)
            more = " Add --resume to continue." if resumable else ""
            without = " It is not calibrated." if self.calibrates else ""
            note(f"Interrupted: the model so far is in {self.path}.{without}{more}")
        else:
            trials = f"{count(run.trials, 'trial')} in {count(run.epochs, 'epoch')}, {run.seconds:.1f} s"
            note(f"The model is in {self.path} ({trials}).")

    def _scale(self, outcome: Any, model: FileModel) -> None:
        """Advise to scale the columns, if one outweighs the others and the learner suffers from it."""
        sizes, features = survey(outcome.first.table), self.source.reading.features
        if getattr(self.learner, "scale_sensitive", True) and not features.standardise and outweighs(sizes):
            name = model.linear().name_of()(sizes.column)
            scale = "Leave out --no-standardise" if self.source.reading.columns else "Scale the columns of the file"
            note(
                f"{name} (root mean square {sizes.column_value:.2g}) outweighs the other columns (median "
                f"{sizes.median_value:.2g}). {scale}, or use --learner arow, which is not affected."
            )

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


def _load(path: str) -> FileModel:
    """Return the model to train further."""
    model = load(path)
    if not isinstance(model, FileModel):
        raise InvalidInput(
            f"{path} was not trained by rosenblatt train, which keeps how files are read. Train it further in Python, "
            "with rosenblatt.load."
        )
    return model


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def trained(learner: Any, outcome: Any) -> None:
    """Give a learner what was learned from files."""
    settings, first = outcome.settings, outcome.first
    if settings.class_weight == "balanced":  # by the rows of this training; those to come are not known
        costs = class_costs("balanced", first.classes, first.counts)
        learner.class_weight = dict(zip(first.classes.tolist(), costs.tolist(), strict=True))
    learner._stream = learner._make_stream(learner._settings(), outcome.learned)
    learner.run_ = replace(outcome.run, seconds=0.0)  # a file depends on the rows and the options alone


def reader_of(source: Any) -> RowReader:
    """Return the reader of further rows."""
    names = source.names if source.reading.features.dictionary else ()
    return RowReader(source.reading, names, source.moments, source.utf8)


def _same_input(options: dict[str, Any], reader: RowReader) -> dict[str, Any]:
    """Remove the options of reading from all options, and return the arguments of `open_source` for further files."""
    given = click.get_current_context().get_parameter_source
    named = {name for name in INPUT_NAMES if given(name) is click.core.ParameterSource.COMMANDLINE}
    named = {SHORT_FOR.get(name, name) for name in named}
    settings = take_input(options)
    features, reading = settings.pop("features"), reader.reading
    columns = {column.name: column.kind for column in reading.columns}
    label = next((name for name, kind in columns.items() if kind == "label"), None)
    known = vars(reading.features) | vars(reading) | {"label": label}
    for name in sorted(named - {*REUSED_NAMES}):
        value = settings[name] if name in settings else getattr(features, name)
        then = known[name]
        if name == "columns":
            then = {key: columns.get(str(key)) for key in value}
            # A date's kind may say, too, which of day and month comes first.
            then |= {key: "date" for key, kind in value.items() if kind == "date" and then[key] in DATE_KINDS}
        if value != then:
            raise click.UsageError(
                f"--{name.replace('_', '-')} contradicts the model of --from, which determines how files are read. "
                "Leave it out, or train a new model."
            )
    names = reader.names if reading.features.dictionary else None
    more = {name: settings[name] for name in REUSED_NAMES if name in settings}
    return more | {
        "reading": reading,
        "names": names,
        "scaling": reader.moments,
        "goes_on": True,
        "utf8": reader.utf8,
    }


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
    seconds, fitted.run_ = fitted.run_.seconds, replace(fitted.run_, seconds=0.0)
    reader = RowReader(
        reading["reading"], names if reading["reading"].features.dictionary else (), None, reading["utf8"]
    )
    kept = open_source(paths, reading=reading["reading"], utf8=reading["utf8"]).first_names(options["keep_names"])
    save(FileModel(fitted, reader, training, names=kept), path)
    if options["as_json"]:
        print_json({"model": path, "seconds": seconds, "labels": model.classes.tolist()} | training)
        return
    if rows.counted:
        note(rows_of_files({path: rows.counted[path] for path in paths}), quiet)
    note(f"labels: {shown_labels(model.classes)}", quiet)
    note(f"It stopped because {fitted.stop_reason_}", quiet)
    note(f"The model is in {path} ({count(fitted.shards, 'shard')}, {seconds:.1f} s).", quiet)


def _shards_of(estimator: Any, rows: FileRows, names: tuple[str, ...]) -> LocalShards:
    """Return groups of files as shards, as on Dask; or shares of the rows, if there are fewer files than shards."""
    shards, jobs = int(estimator.shards), estimator.n_jobs
    threads = (os.cpu_count() or 1) if jobs is None or jobs < 0 else int(jobs)
    if len(rows.paths) < shards:
        return LocalShards(shards_of_rows(rows, names, shards), threads)
    hold = parsed_bytes(rows.paths) <= HELD_SHARE * physical_memory()
    groups = [replace(rows, paths=group) for group in in_groups(rows.paths, shards)]  # all count into one dict
    return LocalShards([shard_of_files(k, group, names, hold) for k, group in enumerate(groups)], threads)
