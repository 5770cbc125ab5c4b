"""``python -m rocketproof`` is the command line, for use when ``rocketproof`` is not on the path."""

from .cli import main

if __name__ == "__main__":
    main()
