"""Validate rows and labels, which compiled loops read without checks."""
