"""Recorders: who recorded what, by which clock; recordings of several processes become one trace."""
