"""Options of Vowpal Wabbit, and the equivalents here."""

from __future__ import annotations

_BY_NAMES = {
    ("-d", "--data"): "name the files without an option, as in rosenblatt train data.vw -m MODEL",
    ("-f", "--final_regressor"): "use -m, --model FILE",
    ("-i", "--initial_regressor"): "use --from MODEL to train further, -m MODEL to predict and evaluate",
    ("-t", "--testonly"): "use rosenblatt predict, or rosenblatt evaluate",
    ("-p", "--predictions"): "use rosenblatt predict with -o, --output FILE",
    ("-r", "--raw_predictions"): "use rosenblatt predict with --scores",
    ("-l", "--learning_rate"): "use --eta0 NUMBER",
    ("--bit_precision",): "use -b, --bits N",
    ("-c",): "leave it out; large files get a cache, and --cache FILE keeps it",
    ("--cache_file",): "use --cache FILE",
    ("-k", "--kill_cache"): "leave it out; a cache of other files or options is not used",
    ("-q", "--quadratic", "--cubic", "--interactions"): "use --cross a*b",
    ("--loss_function",): "use --learner passive-aggressive for hinge, --learner soft-margin --loss logistic for "
    "logistic, --learner adaline-regressor for squared",
    ("--l1",): "use --learner soft-margin --penalty l1 --alpha NUMBER",
    ("--l2",): "use --learner soft-margin --alpha NUMBER",
    ("--power_t",): "use --schedule NAME",
    ("--oaa", "--csoaa", "--ect"): "leave it out; labels may be of any kind and number",
    ("--ngram",): "use --words 1-N",
    ("--noconstant",): "use --fit-intercept no",
    ("--holdout_period",): "use --holdout K",
    ("--holdout_off",): "leave it out",
    ("--early_terminate",): "use --n-iter-no-change N",
    ("--random_seed",): "use --shuffle --random-state N",
    ("-P", "--progress"): "use --every N",
    ("-a", "--audit", "--audit_regressor", "--invert_hash", "--readable_model"): "use rosenblatt info MODEL --top N",
    ("--link",): "use rosenblatt predict with --proba",
    ("--binary",): "leave it out; rosenblatt predict prints labels",
    ("--save_resume",): "leave it out; --checkpoint FILE and --resume continue after a crash",
    ("--adaptive", "--normalized", "--invariant"): "use --learner arow, which has a rate for each feature",
    ("--sgd",): "use --learner perceptron --margin 1",
}
EQUIVALENTS = {name: text for names, text in _BY_NAMES.items() for name in names}


def equivalent(name: str) -> str:
    """Return a sentence on the equivalent of an option of Vowpal Wabbit; empty if it has no such option."""
    return f" Vowpal Wabbit's {name}: {EQUIVALENTS[name]}." if name in EQUIVALENTS else ""
