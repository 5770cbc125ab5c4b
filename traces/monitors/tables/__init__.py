"""The folds that apply the tables of :mod:`...claims`: causes and obligations."""
