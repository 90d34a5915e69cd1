"""Rows, rules and loops: arrays in, counts out."""
