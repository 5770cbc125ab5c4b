"""Errors in the lab that are no defect of the kit."""

from __future__ import annotations


class LabError(Exception):
    """The lab cannot do what was requested: no JDK, no Maven, a process that died or did not answer.

    The message says which part it was, with the end of its log, and what to do. Commands exit with code 3.
    """
