"""Speed, memory and accuracy against scikit-learn, Vowpal Wabbit, LIBLINEAR and river: ``python -m benchmarks``."""
