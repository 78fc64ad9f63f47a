"""What all Python tests have in common."""

import gc
import sys
import zlib

#: Tests after which what they left is collected.
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
    """Leaves what was collected out of the garbage collector's rounds.

    Twenty thousand tests are a million objects, which live as long as the run. A test
    that collects garbage, or makes much of it, would look through all of them.
    """
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown():
    """Collects the classes and functions that tests have made.

    They refer to themselves, and by itself the collector would leave them for thousands
    of tests: the twins of a class are counted each time that one is sent first, and a
    process with hundreds of megabytes takes long to fork.
    """
    global _ended
    _ended += 1
    if _ended % ROUND == 0:
        gc.collect()
