"""A running cluster, read and never changed: what its name servers and brokers tell becomes a folder of recordings.

Read ``remoting.py`` (the protocol), ``questions.py`` (what may be asked), ``stored.py`` (a message as stored),
``folder.py`` (the folder, and where to go on), then ``queues.py``, ``samples.py`` and ``collect.py``.
"""
