"""`--cross` on the command line, and Vowpal Wabbit's words for it."""

import itertools
import json

import pytest

from commands import run
from rosenblatt import load_linear


@pytest.fixture
def folder(tmp_path):
    """Write rows whose label is the exclusive or of two categories: neither says anything alone."""
    rows = [(user, ad, (user + ad) % 2) for user, ad in itertools.product(range(12), range(12))]
    table = "".join(f"u{user},a{ad},{'yes' if y else 'no'}\n" for user, ad, y in rows)
    (tmp_path / "xor.csv").write_text("user,ad,click\n" + table)
    (tmp_path / "xor.vw").write_text("".join(f"{2 * y - 1} |user u{user} |ad a{ad}\n" for user, ad, y in rows))
    return tmp_path


def accuracy(path, *options):
    model = path.with_suffix(".model")
    model.unlink(missing_ok=True)
    run("train", path, "--model", model, "--epochs", 10, "--learner", "passive-aggressive", *options)
    return json.loads(run("evaluate", path, "--model", model, "--json").stdout)["accuracy"], load_linear(model)


def test_exclusive_or_is_learned_with_a_cross_only(folder):
    assert accuracy(folder / "xor.csv")[0] < 0.65
    for options in (["--cross", "user*ad"], ["--cross", "user*ad", "--dictionary"]):
        right, model = accuracy(folder / "xor.csv", *options)
        assert right == 1
    assert "user=u3*ad=a7" in model.feature_names
    assert accuracy(folder / "xor.vw")[0] < 0.65
    found = [
        accuracy(folder / "xor.vw", *options)
        for options in (
            ["--cross", "user*ad"],
            ["--cross", "u*a"],
            ["-q", "ua"],
            ["--quadratic", "ua"],
            ["--interactions=ua"],
        )
    ]
    assert [right for right, _ in found] == [1] * 5
    assert len({model.W.tobytes() for _, model in found}) == 1


def test_several_crosses_are_repeated_or_separated_by_commas(folder):
    (folder / "a.csv").write_text("a,b,c,y\n" + "".join(f"p{k % 3},q{k % 5},{k % 7},{k % 2}\n" for k in range(40)))
    found = [
        accuracy(folder / "a.csv", *options)[1].W.tobytes()
        for options in (["--cross", "a*b,b*c"], ["--cross", "a*b", "--cross", "b*c"], ["--cross", "a*b, b*c, b*a"])
    ]
    assert len(set(found)) == 1


def test_wrong_crosses_are_refused_before_training(folder):
    for name, options, message in [
        ("xor.csv", ["--cross", "usr*ad"], "Did you mean 'user'?"),
        ("xor.csv", ["-q", "ua"], "there is no column 'u'"),
        ("xor.vw", ["--cross", "user*adv"], "Did you mean 'ad'?"),
        ("xor.vw", ["--cross", "user"], "names with a star between them"),
    ]:
        done = run("train", folder / name, "--model", folder / "m", *options, code=1)
        assert message in done.stderr
        assert not (folder / "m").exists()
    assert (
        "fewer than two letters" in run("train", folder / "xor.vw", "--model", folder / "m", "-q", "u", code=2).stderr
    )


def test_interactions_of_vowpal_wabbit_may_be_repeated_when_a_model_is_trained_further(tmp_path):
    path, model = tmp_path / "a.vw", tmp_path / "a.model"
    path.write_text("1 |a x |b y\n-1 |a z |b y\n")
    run("train", path, "--model", model, "-q", "ab", "--quiet")
    run("train", path, "--from", model, "-q", "ab", "--quiet")
    assert "--cross contradicts the model" in run("train", path, "--from", model, "-q", "aa", code=2).stderr
