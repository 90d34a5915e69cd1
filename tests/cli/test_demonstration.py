"""The command of the demonstration; what it shows is tested in test_demo.py and test_main.py."""

from commands import run


def test_the_picture_is_an_option():
    assert "--no-picture" in run("demo", "--help").stdout
