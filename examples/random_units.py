"""Build Rosenblatt's machine: a fixed layer of random units in front of a trained unit learns a curved boundary."""

from sklearn.pipeline import make_pipeline

from rosenblatt import AssociationUnits, Perceptron
from rosenblatt.datasets import two_moons

X, y = two_moons(1000, noise=0.15, seed=0)
print(f"a line: {Perceptron().fit(X[:500], y[:500]).score(X[500:], y[500:]):.2f}")
for n_units in (10, 100, 1000):
    machine = make_pipeline(AssociationUnits(units="step", n_units=n_units), Perceptron()).fit(X[:500], y[:500])
    print(f"{n_units:4} random units: {machine.score(X[500:], y[500:]):.2f}")
