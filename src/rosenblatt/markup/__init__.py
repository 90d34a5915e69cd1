"""HTML and SVG from plain values, where every text from data is escaped; no matplotlib, no scripts."""
