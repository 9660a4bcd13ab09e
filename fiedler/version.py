"""The version, by itself, so that every room can name it without asking the front door."""

__version__ = "0.1.0.dev0"
