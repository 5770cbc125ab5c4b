"""The semantics of RocketMQ consumption as one executable machine."""
