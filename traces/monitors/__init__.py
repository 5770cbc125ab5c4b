"""Monitors: folds over coded events, one for each way to key them."""

from __future__ import annotations
