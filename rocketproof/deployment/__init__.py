"""A user's deployment: what ``rocketproof.toml`` says of it, what is known to go wrong with it, what the model shows.

Reading order: ``cluster`` and ``consumers`` (what may be described), ``description`` (the whole file), ``lines`` and
``reading`` (from the file to a description, and where it is wrong), ``facts`` (what follows from it), ``finding`` and
``rules`` (known misconfigurations), ``properties`` (which properties of the model are asked), ``judge`` (the answers).
"""
