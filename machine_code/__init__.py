"""Loops of monitors and searches as machine code, kept between runs."""
