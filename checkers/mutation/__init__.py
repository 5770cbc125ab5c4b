"""Generated mutants: every small change of every text of the model, and which row of the suite notices it.

Reading order: ``calls`` (what actions call), ``changes`` (what is changed), ``ground`` (the original machine of one
configuration, to compare with), ``vectors`` (terms over many states at once), ``reading`` (which cells are ever
observed), ``equal`` (steps that Z3 proves equal), ``walk`` (two machines side by side), ``hunt`` (the rows that
change), ``theorems`` (rules without a machine), ``journal`` (what is known already), ``judge`` (what became of each
mutant).
"""
