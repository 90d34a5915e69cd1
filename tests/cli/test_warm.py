"""The command that compiles beforehand."""

from click.testing import CliRunner

from rosenblatt.cli.main import main


def test_it_says_what_it_did_and_how_long_it_took():
    done = CliRunner().invoke(main, ["warmup", "winnow"])
    assert done.exit_code == 0
    assert "winnow" in done.output
    assert "s); later processes load the code from disk." in done.output


def test_it_refuses_what_it_does_not_know_in_a_sentence():
    done = CliRunner().invoke(main, ["warmup", "everything"])
    assert done.exit_code == 1
    assert "error: 'everything' cannot be compiled by name" in done.output
