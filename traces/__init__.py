"""Recorded runs: their form, where they come from, and how they are held against the rules of ``model/``."""
