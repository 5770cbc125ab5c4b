"""Loops over events as machine code, kept between runs."""
