"""From files to rows: formats and their readers."""
