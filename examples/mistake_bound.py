"""Compare a run with Novikoff's theorem: mistakes made, mistakes allowed, and the two quantities of the proof."""

from rosenblatt import Perceptron, theory
from rosenblatt.datasets import separable

for margin in (0.4, 0.2, 0.1, 0.05):
    X, y = separable(200, 3, margin=margin, seed=1)
    result = theory(X, y, Perceptron(shuffle=False))
    print(f"margin {margin:4}: {result.mistakes:3} mistakes of at most {result.bound:.0f}")

print()
print(result)
