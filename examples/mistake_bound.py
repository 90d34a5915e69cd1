"""Novikoff's theorem on a run: mistakes made, mistakes allowed, and the two quantities of the proof."""

from rosenblatt import Perceptron, theory
from rosenblatt.datasets import separable

for margin in (0.4, 0.2, 0.1, 0.05):
    X, y = separable(200, 3, margin=margin, seed=1)
    found = theory(X, y, Perceptron(shuffle=False))
    print(f"margin {margin:4}: {found.mistakes:3} mistakes of at most {found.bound:.0f}")

print()
print(found)
