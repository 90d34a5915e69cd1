"""Options of training, from the declared parameters of the learners, and the jobs that they describe."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import click
import numpy as np

from rosenblatt.cli.options import Decorator, option, plain, reject_options, together
from rosenblatt.errors import InvalidInput
from rosenblatt.learners import family
from rosenblatt.learners.parameters import Parameter
from rosenblatt.text import listed
from rosenblatt.training.chunked import ChunkedJob, FirstChunkStats, NewLabels
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
# The kinds of values of a parameter in Python, and those of its option.
_KINDS = {'"': "", " or callable": "", ", RandomState or None": "", " or None": ", none", "bool": "yes, no"}
learner_option, training_option = partial(option, section="Learner"), partial(option, section="Training")


@cache
def trainable() -> dict[str, Any]:
    """Return the classes of the learners that files can train, by their names for --learner."""
    return {cls.facts.command: cls for cls in family() if cls.facts.command}


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


def _option_of(name: str, owners: dict[str, Parameter]) -> Decorator:
    """Return the option of a parameter that these learners declare."""
    kinds = list(dict.fromkeys(parameter.kind for parameter in owners.values()))
    defaults = list(dict.fromkeys(str(parameter.default) for parameter in owners.values()))
    text = next(iter(owners.values())).text
    if len(owners) < len(trainable()):
        text += f" For {', '.join(owners)}."
    text += f"  [default: {defaults[0] if len(defaults) == 1 else 'that of the learner'}]"
    kind = "VALUE" if len(kinds) > 1 else kinds[0]
    for python, here in _KINDS.items():
        kind = kind.replace(python, here)
    flag = f"--{name.replace('_', '-')}"
    return learner_option(flag, name, type=value_of, metavar=kind, help=text)


def learner_options() -> Decorator:
    """Return a decorator that adds an option for each parameter of the learners that files can train."""
    return together(*(_option_of(name, owners) for name, owners in _parameters().items()))


def training_options() -> Decorator:
    """Return a decorator that adds all options of training."""
    return together(
        learner_option(
            "--learner",
            type=click.Choice(tuple(trainable())),
            default=DEFAULT_LEARNER,
            show_default=f"{DEFAULT_LEARNER}; {SHARDED_LEARNER} on shards",
            help="Learning algorithm.",
        ),
        learner_options(),
        learner_option(
            "--class-weight",
            metavar="LABEL=FACTOR,...",
            help='Weight of each class, or "balanced", which counts all labels first.',
        ),
        training_option(
            "--max-iter",
            "--epochs",
            "--passes",
            "max_iter",
            type=click.IntRange(1),
            default=5,  # one pass is rarely enough, and more than a few rarely help
            show_default=True,
            help="Maximum number of passes over the rows.",
        ),
        training_option(
            "--shuffle/--no-shuffle",
            default=False,
            show_default=True,
            help="Shuffle the chunks and the rows in each, after the first pass; needs a cache.",
        ),
        training_option(
            "--classes", metavar="A,B,...", help="All labels, if some may first appear late on standard input."
        ),
    )


# ------------------------------------------------------------------------------------------------------- from options


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
    return name, learner


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
    """

    def configure(look: FirstChunkStats) -> Settings:
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
    name, learner = take_learner(options)
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
        check_class_weight(class_weights(class_weight, numeric), labels)
    job = ChunkedJob(
        source,
        configuration(learner, class_weight, first and labels is None),
        plan_of(learner, options, validates=validates),
        classes=labels,
        regression=regression,
        balanced=class_weight == "balanced",
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
