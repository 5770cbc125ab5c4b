"""Benchmarks: figures against peers, each measured in one run on one core beside its peer."""
