"""What all Python tests have in common."""

import gc
import sys
import zlib

#: The number of tests between two garbage collections.
ROUND = 32
_ended = 0


def pytest_addoption(parser):
    for option, share in (
        ("--fifth-of", "of tests with cases there, run one case in five"),
        ("--third-of", "run one test in three of those there"),
    ):
        parser.addoption(
            option,
            action="append",
            default=[],
            metavar="PATH",
            help=share + ", with each version of Python others",
        )


def pytest_collection_modifyitems(config, items):
    def places(option):
        given = config.getoption(option)
        return tuple(f"{path}{end}" for path in given for end in ("/", "::"))

    fifths, thirds = places("--fifth-of"), places("--third-of")

    def is_left_out(item):
        number = zlib.crc32(item.nodeid.encode()) - sys.version_info.minor
        is_case = hasattr(item, "callspec")
        if item.nodeid.startswith(fifths) and is_case and number % 5 != 0:
            return True
        return item.nodeid.startswith(thirds) and number % 3 != 0

    run, left_out = [], []
    for item in items:
        (left_out if is_left_out(item) else run).append(item)
    items[:] = run
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish(session):
    """Freezes objects created by pytest, so that the garbage collector skips them.

    Twenty thousand tests are a million objects, which live as long as the run. Each
    garbage collection in a test would traverse all of them.
    """
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown():
    """Collects the classes and functions that tests have made.

    They are in reference cycles, which would otherwise stay for thousands of tests.
    Equal classes that are alive are counted when one of them is sent first, and a
    process with hundreds of megabytes takes long to fork.
    """
    global _ended
    _ended += 1
    if _ended % ROUND == 0:
        gc.collect()
