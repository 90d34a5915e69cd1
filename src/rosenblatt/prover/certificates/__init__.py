"""Certificates and their verification: the trusted base."""
