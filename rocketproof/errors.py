"""Mistakes of the user at the command line."""


class InputError(Exception):
    """What was asked cannot be done as written: the message says what was given, what is possible, and what to do."""
