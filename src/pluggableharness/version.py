"""The version, where whoever needs it finds it without the library."""

__version__ = "0.1.0"
