"""Compiled loops: arrays in, counts out. These files never import one another."""
