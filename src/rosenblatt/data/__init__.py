"""From what users have to rows and labels that a compiled loop may read without looking."""
