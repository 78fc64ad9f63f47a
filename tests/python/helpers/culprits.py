"""Errors as text, to be compared in tests."""


def culprit_of(error):
    """Path and type of the culprit of an error: ``obj['lock'] (_thread.lock)``."""
    return f"{error.path} ({error.type})"
