"""What all Python tests have in common."""

import gc


def pytest_collection_finish(session):
    """Leaves what was collected out of the garbage collector's rounds.

    Twenty thousand tests are a million objects, which live as long as the run. A test
    that collects garbage, or makes much of it, would look through all of them.
    """
    gc.collect()
    gc.freeze()
