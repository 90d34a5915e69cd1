"""The perceptron in the dual: kernels, expansions, budgets."""
