"""Documents about a fit, each one HTML file without a network."""
