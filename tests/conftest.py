"""What all Python tests have in common."""

import gc
import sys
import zlib

#: Tests after which what they left is collected.
ROUND = 32
_ended = 0


def pytest_addoption(parser):
    parser.addoption(
        "--fifth-of",
        action="append",
        default=[],
        metavar="PATH",
        help="of tests with cases there, run one case in five, with each version of"
        " Python another fifth",
    )


def pytest_collection_modifyitems(config, items):
    given = config.getoption("--fifth-of")
    thinned = tuple(f"{path}{end}" for path in given for end in ("/", "::"))

    def is_left_out(item):
        return (
            hasattr(item, "callspec")
            and item.nodeid.startswith(thinned)
            and (zlib.crc32(item.nodeid.encode()) - sys.version_info.minor) % 5 != 0
        )

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
