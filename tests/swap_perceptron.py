"""A pytest plugin that puts our Perceptron in the place of scikit-learn's, before its tests import it."""

import sklearn.linear_model

import rosenblatt

sklearn.linear_model.Perceptron = rosenblatt.Perceptron
