"""A running cluster, read and never changed: answers of its name servers and brokers become a folder of recordings.

Read ``remoting.py`` (the protocol), ``questions.py`` (the requests), ``stored.py`` (a message as stored), ``folder.py``
(the folder, and where to continue), then ``queues.py``, ``samples.py`` and ``collect.py``.
"""
