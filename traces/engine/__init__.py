"""Reading a trace into the folds, in one process, and the results."""
