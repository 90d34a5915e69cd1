"""What compiled loops do with rows: verbs whose bodies are chosen by type when a loop is compiled."""
