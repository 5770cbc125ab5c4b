"""Reading a trace into the folds, in one process, and what comes out of them."""
