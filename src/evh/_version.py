"""The version of the package, and nothing else: read without importing anything."""

__version__ = "0.4.0"
