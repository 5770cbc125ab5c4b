"""Recorded runs: their form, where they come from, and how they are checked against the rules of ``model/``."""
