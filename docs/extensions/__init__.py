"""What the site needs beside Sphinx: formulas, drawings, the commands, and links into the repository."""
