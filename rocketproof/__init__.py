"""Verification kit for Apache RocketMQ message consumption."""

from importlib.metadata import version

__version__ = version("rocketproof")
