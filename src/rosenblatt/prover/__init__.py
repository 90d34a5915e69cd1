"""Prove whether classes can be separated, and check such proofs."""
