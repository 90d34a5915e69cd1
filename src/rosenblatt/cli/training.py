"""Options of training, from the declared parameters of the learners, and the jobs that they describe."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import click
import numpy as np

from rosenblatt.cli.options import Decorator, SectionOption, named_learner, option, plain, reject_options, together
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import trainable
from rosenblatt.learners.parameters import Parameter
from rosenblatt.learners.soft_margin import RATES_BY_TRIAL
from rosenblatt.text import listed
from rosenblatt.training.chunked import ChunkedJob, FirstChunkStats, NewLabels, Start
from rosenblatt.training.plan import Plan
from rosenblatt.training.stream import Settings

# On standardised tables and on texts several learners are about as good; AROW alone is not harmed by numbers in
# different units, which formats other than tables cannot standardise. In %: spambase as svmlight 91.5, averaged 54.9,
# passive-aggressive with an average 80.1; wine as svmlight 95.6, 54.8, 74.1 (benchmarks/first_try.py, three splits).
DEFAULT_LEARNER = "arow"
SHARDED_LEARNER = "averaged"  # the default on shards, whose weights have a mean
# Parameters that make no sense here, or that have an option of another form.
WITHOUT_OPTION = (
    *("callback", "verbose", "warm_start", "init", "early_stopping", "validation_fraction"),
    *("shuffle", "max_iter", "class_weight"),
)
# Options that a further run of a model may change.
OF_A_RUN = ("max_iter", "shuffle", "tol", "n_iter_no_change", "keep", "max_seconds", "random_state", "n_jobs")
learner_option, training_option = partial(option, section="Learner"), partial(option, section="Training")


@cache
def _parameters() -> dict[str, dict[str, Parameter]]:
    """Return for each parameter the learners that have it, with its declaration there."""
    declarations: dict[str, dict[str, Parameter]] = {}
    for learner, cls in trainable().items():
        for name, parameter in cls.declared.items():
            if name not in WITHOUT_OPTION:
                declarations.setdefault(name, {})[learner] = parameter
    return dict(sorted(declarations.items()))


def value_of(text: str) -> Any:
    """Return the value of a text: none, true, false, a number, numbers separated by commas, or the text itself."""
    words = {"none": None, "true": True, "yes": True, "false": False, "no": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    try:
        return tuple(float(part) for part in text.split(",")) if "," in text else text
    except ValueError:
        return text


# Kinds of values in Python, as patterns, and how the help text shows them.
_KINDS = {
    r" or callable|, RandomState or None|[\"{}]": "",
    r"\bfloat or \(float, float\)": "NUMBER[,NUMBER]",
    r"\bfloat\b": "NUMBER",
    r"\bint\b": "N",
    r"\bbool\b": "yes|no",
    r"\bTrue\b": "yes",
    r"\bFalse\b": "no",
    r" or None": "|none",
    r", ": "|",
}
_VALUES = {"True": "yes", "False": "no", "None": "none"}


class LearnerOption(SectionOption):
    """The option of a parameter that some learners declare, with the text of the learner that --learner names."""

    def __init__(self, names: Any, owners: dict[str, Parameter], **settings: Any) -> None:
        super().__init__(names, common=False, type=value_of, **settings)
        self.owners = owners

    def is_shown(self, ctx: click.Context) -> bool:
        """Return whether this help text shows the option: that of its learner does."""
        return super().is_shown(ctx) or named_learner(ctx) in self.owners

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return the option with its values, and its text."""
        learner = named_learner(ctx)
        owners = {learner: self.owners[learner]} if learner in self.owners else self.owners
        kinds = {_shown_kind(parameter) for parameter in owners.values()}
        texts = dict.fromkeys(_first_words(parameter.text) for parameter in owners.values())
        defaults = {str(parameter.default) for parameter in owners.values()}
        text = f"{'; '.join(one for one in texts if not one.startswith(tuple(texts.keys() - {one})))}."
        if learner not in self.owners and len(owners) < len(trainable()):
            others = [name for name in trainable() if name not in owners]
            text += f" For {', '.join(owners)}." if len(owners) <= len(others) else f" Not for {', '.join(others)}."
        if len(defaults) == 1:
            default = defaults.pop()
            text += f"  [default: {_VALUES.get(default, default)}]"
        return f"{self.opts[0]} {max(kinds, key=len)}", text


def _shown_kind(parameter: Parameter) -> str:
    if parameter.kind.startswith("str"):
        return "|".join(parameter.words)
    kind = parameter.kind
    for python, here in _KINDS.items():
        kind = re.sub(python, here, kind)
    return kind


def _first_words(text: str) -> str:
    """Return the start of a text, up to a stop, with parameters as options. The pages have the whole text."""
    start = re.split(r"[.:;](?: |$)| \(.*\d{4}\)", text, maxsplit=1)[0]
    return re.sub(r"`(\w+)`", lambda found: f"--{found[1].replace('_', '-')}", start)


def learner_options(classifiers: bool = False) -> Decorator:
    """Return a decorator that adds --learner, and an option for each parameter of the learners that files can train.

    `classifiers` leaves out those that learn numbers.
    """
    names = [name for name, cls in trainable().items() if not classifiers or hasattr(cls, "decision_function")]
    learner = learner_option(
        "--learner",
        type=click.Choice(names),
        metavar="NAME",
        default=DEFAULT_LEARNER,
        show_default=True,
        help=f"{', '.join(names)}.",
    )
    parameters = (
        option(f"--{name.replace('_', '-')}", name, cls=LearnerOption, owners=owners, section="Parameters of learners")
        for name, owners in _parameters().items()
    )
    return together(learner, *parameters)


def epochs_option(help: str = "Most passes over the rows.", **settings: Any) -> Decorator:
    """Return a decorator that adds the option for the number of epochs, under all its names."""
    names = "--epochs", "--passes", "--max-iter", "max_iter"
    return training_option(*names, type=click.IntRange(1), help=help, **settings)


def training_options() -> Decorator:
    """Return a decorator that adds all options of training."""
    return together(
        learner_options(),
        learner_option(
            "--class-weight",
            metavar="LABEL=X,...",
            help="Weights of labels, or: balanced.",
        ),
        epochs_option(default=5, show_default=True),  # one pass is rarely enough, and more than a few rarely help
        training_option(
            "--shuffle/--no-shuffle",
            default=False,
            help="Shuffle chunks and rows after the first pass.",
        ),
        training_option(
            "--classes",
            metavar="A,B,...",
            common=False,
            help="All labels, if some may first appear late on standard input.",
        ),
    )


# ------------------------------------------------------------------------------------------------------- from options

# Parameters that others leave without effect: when, and the remedy.
_IDLE: dict[str, tuple[Callable[[Any], bool], str]] = {
    "alpha": (
        lambda learner: learner.penalty is None and learner.schedule not in RATES_BY_TRIAL,
        "there is no penalty. Add --penalty l2",
    ),
    "l1_ratio": (
        lambda learner: learner.penalty != "elasticnet",
        "it is for the elastic net. Add --penalty elasticnet",
    ),
    "eta0": (
        lambda learner: getattr(learner, "schedule", None) in RATES_BY_TRIAL,
        "the schedule determines the rate of each trial. Add --schedule constant",
    ),
    "threshold": (lambda learner: learner.balanced, "it is for positive weights. Add --balanced no"),
    "n_iter_no_change": (
        lambda learner: learner.tol is None,
        "with --tol none, no epoch is the last but by --epochs. Pass a number to --tol",
    ),
}


def take_learner(options: dict[str, Any]) -> tuple[str, Any]:
    """Remove the options of a learner from all options; return its name and the learner."""
    name = options.pop("learner")
    cls = trainable()[name]
    values = {key: options.pop(key) for key in _parameters()}
    context = click.get_current_context()
    parameters = {}
    for key, value in values.items():
        if context.get_parameter_source(key) is not click.core.ParameterSource.COMMANDLINE:
            continue
        if key not in cls.declared:
            own = ", ".join(f"--{one.replace('_', '-')}" for one in cls.declared if one not in WITHOUT_OPTION)
            raise click.UsageError(f"--{key.replace('_', '-')} is not an option of {name}, which has {own}.")
        parameters[key] = value
    learner = cls(**parameters)
    try:
        learner._check_parameters()
    except InvalidInput as error:
        raise click.UsageError(str(error)) from None
    for key, (is_idle, because) in _IDLE.items():
        if key in parameters and is_idle(learner):
            raise click.UsageError(f"--{key.replace('_', '-')} has no effect: {because}, or leave it out.")
    if not context.params["shuffle"]:
        reject_options(("random_state",), "it is the seed of --shuffle. Add --shuffle, or leave it out.")
    return name, learner


def take_more(options: dict[str, Any], model: Any) -> tuple[str, Any]:
    """Remove the options of a learner from all options; return the name and the learner of a model to train further.

    Options of the run that are not on the command line are those of the model's last run. All others must be as they
    were, because the learned state depends on them.
    """
    name, learner = model.training["learner"], model.learner
    before = {"learner": name} | model.training["parameters"]
    context = click.get_current_context()
    flags = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for key in ("learner", *_parameters(), "class_weight", "max_iter", "shuffle"):
        value = options.pop(key)
        if context.get_parameter_source(key) is not click.core.ParameterSource.COMMANDLINE:
            value = before.get(key)
        elif key not in before:
            raise click.UsageError(f"{flags[key]} is not an option of {name}, the learner of the model of --from.")
        elif key not in OF_A_RUN and value != before[key]:
            was = "without it" if before[key] is None else f"with {flags[key]} {plain_text(before[key])}"
            raise click.UsageError(
                f"{flags[key]} {plain_text(value)} contradicts the model of --from, which was trained {was}. Leave it "
                "out, or train a new model."
            )
        if key in ("class_weight", "max_iter", "shuffle"):
            options[key] = value
        elif key in OF_A_RUN and key in learner.declared:
            setattr(learner, key, value)
    try:
        learner._check_parameters()
    except InvalidInput as error:
        raise click.UsageError(str(error)) from None
    return name, learner


def plain_text(value: Any) -> str:
    """Return the value of an option as it is on the command line."""
    if isinstance(value, tuple):
        return ",".join(map(plain_text, value))
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return str(value)


def class_weights(text: str | None, numeric: bool) -> Any:
    """Return class weights from the text of their option; `numeric` is whether labels are numbers."""
    if text is None or text == "balanced":
        return text
    weights = {}
    for part in text.split(","):
        label, _, factor = part.rpartition("=")
        try:
            weights[float(label) if numeric else label] = float(factor)
        except ValueError:
            form = "two numbers: the labels of the file are numbers" if numeric else "a number"
            raise click.UsageError(f"--class-weight: {part!r} is not LABEL=FACTOR with {form}.") from None
    return weights


def plan_of(learner: Any, options: dict[str, Any], *, validates: bool) -> Plan:
    """Remove the options of a run from all options, and return its plan."""
    if not isinstance(learner.random_state, int):
        raise click.UsageError(f"--random-state={learner.random_state} is not an integer from 0.")
    plan: Plan = learner._plan(
        order="shuffled" if options.pop("shuffle") else "cyclic",
        max_iter=options.pop("max_iter"),
        keep=learner.keep or ("best" if validates else "last"),
    )
    return plan


def unknown_labels(weights: Any, classes: Any) -> list[Any]:
    """Return the labels that have a weight, but no row."""
    return [label for label in weights if label not in classes.tolist()] if isinstance(weights, dict) else []


def check_class_weight(weights: Any, classes: Any) -> None:
    """Raise an error if a label that no row has has a weight."""
    unknown = unknown_labels(weights, classes)
    if unknown:
        raise click.UsageError(
            f"--class-weight names {listed([plain(label) for label in unknown])}, but no row has this label. "
            f"The labels are {shown_labels(classes)}."
        )


def configuration(learner: Any, class_weight: str | None, first: bool) -> Callable[[FirstChunkStats], Settings]:
    """Return a function that completes the settings of a learner from the first rows and the labels.

    `first` is whether to collect all labels before training if the first rows lack one of the option `class_weight`.
    A learner that has learned before keeps what was chosen then.
    """

    def configure(look: FirstChunkStats) -> Settings:
        if learner._stream is not None:
            before: Settings = learner._settings()
            return before
        learner.n_features_in_ = look.table.shape[1]
        learner._adapt(look.sizes, look.classes.size, warm=False)
        if class_weight is not None:
            weights = class_weights(class_weight, look.classes.dtype.kind != "U")
            if first and look.counts is None and unknown_labels(weights, look.classes):
                raise NewLabels("a label of --class-weight")
            if look.counts is not None:
                check_class_weight(weights, look.classes)
            learner.class_weight = weights
        settings: Settings = learner._settings()
        return settings

    return configure


def job_of(
    source: Any, options: dict[str, Any], *, validates: bool = False, first: bool = True
) -> tuple[dict[str, Any], ChunkedJob]:
    """Remove the options of training from all options; return them as plain values, and the job.

    `validates` is whether rows are held out, `first` whether labels can be collected before training.
    """
    return job_of_learner(*take_learner(options), source, options, validates=validates, first=first)


def job_of_learner(
    name: str,
    learner: Any,
    source: Any,
    options: dict[str, Any],
    *,
    validates: bool = False,
    first: bool = True,
    start: Start | None = None,
) -> tuple[dict[str, Any], ChunkedJob]:
    """Do the same for a learner; `start` is the training that it continues."""
    class_weight, classes = options.pop("class_weight"), options.pop("classes")
    parameters: dict[str, Any] = {key: getattr(learner, key) for key in learner.declared if key not in WITHOUT_OPTION}
    parameters |= {"max_iter": options["max_iter"], "shuffle": options["shuffle"], "class_weight": class_weight}
    labels = None
    regression = not hasattr(learner, "decision_function")
    if regression:
        reject_options(("class_weight", "classes"), f"{name} learns numbers, not classes. Leave it out.")
    numeric = source.reading.label_type == "number"
    if classes is not None:
        try:
            labels = np.unique([float(label) if numeric else label for label in classes.split(",")])
        except ValueError:
            raise click.UsageError(
                f"--classes={classes}: the labels of the file are numbers. Pass numbers, or add --label-type text."
            ) from None
        if start is None:
            check_class_weight(class_weights(class_weight, numeric), labels)
    job = ChunkedJob(
        source,
        configuration(learner, class_weight, first and labels is None),
        plan_of(learner, options, validates=validates),
        classes=labels,
        regression=regression,
        balanced=class_weight == "balanced" and start is None,
        start=start,
    )
    return {"learner": name, "parameters": parameters}, job


def describe_run(run: Any) -> dict[str, Any]:
    """Return the record of a run as plain values, without times."""
    return {
        "rows": run.trials // max(run.epochs, 1),
        "epochs": run.epochs,
        "trials": run.trials,
        "mistakes": list(run.mistakes),
        "losses": list(run.losses),
        "errors": list(run.errors),
        "updates": run.updates,
        "kept": run.kept,
        "stop": run.stop.name.lower(),
        "reason": run.reason,
    }


def shown_labels(classes: Any) -> str:
    """Return the first labels, and their number if there are more."""
    labels = [str(plain(label)) for label in classes[:10]]
    return ", ".join(labels) + (f", ... ({classes.size} in all)" if classes.size > 10 else "")


class Interruption:
    """Whether Ctrl-C was pressed. A second time it raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.happened = False

    def __call__(self) -> bool:
        """Return whether Ctrl-C was pressed."""
        return self.happened

    def _note(self, *_: Any) -> None:
        if self.happened:
            raise KeyboardInterrupt
        self.happened = True

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Record Ctrl-C instead of raising KeyboardInterrupt."""
        before = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
