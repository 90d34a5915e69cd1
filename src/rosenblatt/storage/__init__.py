"""Files that appear whole or not at all, and hold nothing that can run."""
