"""Learning in epochs and streams, without scikit-learn."""
