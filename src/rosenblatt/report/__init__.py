"""Reports on a fit: its figures, its theory, and one HTML file with both."""
