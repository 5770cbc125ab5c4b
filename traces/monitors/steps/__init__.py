"""The monitor of steps: what each process does with each queue, and whether each step follows from those before it.

:mod:`.fold` distributes events, and reports at the end what did not follow; :mod:`.state` is what it knows. The
knowledge about a queue changes by :mod:`.windows`, :mod:`.pulls`, :mod:`.listeners` and :mod:`.offsets` of its clients,
and by :mod:`.stores` of its broker.
"""
