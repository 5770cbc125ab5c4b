"""A user's deployment: how ``rocketproof.toml`` describes it, which known mistakes it has, and what the model shows.

Reading order: ``cluster`` and ``consumers`` (what may be described), ``description`` (the whole file), ``lines`` and
``reading`` (from the file to a description, and where it is wrong), ``facts`` (what follows from it), ``finding`` and
``rules`` (known misconfigurations), ``questions`` (which properties of the model are judged), ``judge`` (the answers).
"""
