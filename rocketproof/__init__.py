"""Verification kit for Apache RocketMQ message consumption."""

__version__: str


def __getattr__(name: str) -> str:
    """The version, which takes some time to find out, for those who ask."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("rocketproof")
