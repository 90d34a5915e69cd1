"""HTML and SVG from plain values. All text is escaped; there are no scripts, and matplotlib is not needed."""
