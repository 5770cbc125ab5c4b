"""The process from which a local Spark forks its Python workers: what they all need is loaded here, once."""

import gc

import pyarrow as pa
from pyspark.daemon import manager

from ..traces.engine.kept_memory import keep_freed_memory
from . import check, frames

LOADED = check, frames
"""Modules that do the work of tasks."""

if __name__ == "__main__":
    keep_freed_memory()
    pa.array([True]).to_numpy(zero_copy_only=False)  # Arrow then loads pandas, which takes half a second
    gc.collect()
    gc.freeze()  # a worker looks for garbage after each task, and need not look through what is loaded here
    manager()
