"""Exhaustive search: the loop, and where it keeps its states: in memory, in files, on several cores or machines."""
