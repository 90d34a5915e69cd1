"""`rosenblatt serve`: models that learn over HTTP, and lose nothing when the process is killed."""
