"""Sphinx extensions of the site: formulas, drawings, the commands, and links into the repository."""
