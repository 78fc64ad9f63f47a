"""How errors are written down in tests."""


def told_by(error):
    """Path and type of what could not travel: ``obj['lock'] (_thread.lock)``."""
    return f"{error.path} ({error.type})"
