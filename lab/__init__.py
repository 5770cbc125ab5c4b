"""The lab: RocketMQ itself on this machine, driven, captured and compared with the model. Needs a JDK and Maven."""
