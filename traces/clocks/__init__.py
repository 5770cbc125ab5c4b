"""Clocks: how far the clocks of recorders are apart, from what must have come before what."""
