"""What can go wrong in the lab that is no defect of the kit."""

from __future__ import annotations


class LabError(Exception):
    """The lab cannot do what was asked: no JDK, no Maven, a process that died or did not answer.

    The message says which part it was, with the end of its log, and what to do. Commands leave with exit code 3.
    """
