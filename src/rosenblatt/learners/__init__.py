"""The scikit-learn classes; the only package that imports scikit-learn."""
