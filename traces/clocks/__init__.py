"""Clocks: how far the clocks of recorders are apart, derived from which events must have come before which."""
