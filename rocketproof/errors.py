"""Mistakes of the user on the command line."""


class InputError(Exception):
    """A request cannot be carried out as written: the message says what was given, what is possible, and what to do."""
