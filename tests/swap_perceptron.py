"""A pytest plugin that puts our Perceptron in the place of scikit-learn's, before its tests import it."""

import sklearn.linear_model

import rosenblatt


def pytest_configure():
    """Swap only as a plugin: whoever collects doctests imports this file too."""
    sklearn.linear_model.Perceptron = rosenblatt.Perceptron
