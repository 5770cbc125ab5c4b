"""Recordings of known truth."""
