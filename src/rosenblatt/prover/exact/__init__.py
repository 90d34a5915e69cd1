"""Arithmetic without rounding."""
