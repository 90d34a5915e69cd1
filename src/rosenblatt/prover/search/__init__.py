"""The search for a proof that data is separable, or that it is not."""
