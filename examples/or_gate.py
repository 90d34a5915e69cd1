"""Learn OR with the perceptron: print every trial of the run, then the line that it found."""

from rosenblatt import trace
from rosenblatt.datasets import logical

X, y = logical("or")
for trial in trace(X, y):
    mark = "mistake" if trial.mistake else ""
    print(f"epoch {trial.epoch}  x = {X[trial.row]}  y = {trial.label:+}  score = {trial.score:+.0f}  {mark}")

print(f"{trial.mistakes} mistakes; w = {trial.w}, b = {trial.b:.0f}")
