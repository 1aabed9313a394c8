"""Derivatives: the tape and what is built on it."""
