"""Monitors: folds over coded events, one for each kind of key."""

from __future__ import annotations
