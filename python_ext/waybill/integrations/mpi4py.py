"""mpi4py: its methods with lower-case names send by waybill.

    import waybill.integrations.mpi4py
    waybill.integrations.mpi4py.install()

in the script that all ranks run. Messages are pickles, so ranks without waybill's
``install()`` can exchange them with others. docs/integrations/mpi4py.md has the
details.
Tested by tests/engines/test_mpi4py.py.
"""

from __future__ import annotations

import io
from typing import Any

from waybill._api.configuration import configure
from waybill.integrations.multiprocessing import MainByNamePickler
from waybill.integrations.pickle import BufferCallback

#: The original protocol and threshold of mpi4py's Pickle objects.
_before: list[tuple[Any, int | None, int]] = []


def install(**options: Any) -> None:
    """Makes this process send by waybill. Imports ``mpi4py.MPI``, which initializes MPI
    unless ``mpi4py.rc`` says otherwise. Options are those of ``waybill.configure``, for
    this rank."""
    configure(**options)
    from mpi4py import MPI
    from mpi4py.util import pkl5

    if _before:
        return
    for pickle in (MPI.pickle, pkl5.pickle):
        _before.append((pickle, pickle.PROTOCOL, pickle.THRESHOLD))
        pickle.__init__(dumps, None, pickle.PROTOCOL, pickle.THRESHOLD)


def uninstall() -> None:
    """Restores mpi4py's own ``dumps`` and ``loads``. Others, set by the program before
    ``install``, cannot be read and have to be set again."""
    while _before:
        pickle, protocol, threshold = _before.pop()
        pickle.__init__(None, None, protocol, threshold)


class _Pickler(MainByNamePickler):
    # In workers of mpi4py.futures the master's main module has the second name.
    names_of_main = ("__main__", "__worker__")


def dumps(
    obj: object,
    protocol: int | None = None,
    *,
    buffer_callback: BufferCallback | None = None,
) -> bytes:
    """For ``mpi4py.MPI.Pickle`` objects; ``pickle.loads`` reads it.

    Globals of the main module are sent by name: all ranks run the same script, and an
    instance has to be one of the receiver's own class.
    """
    file = io.BytesIO()
    _Pickler(file, protocol, buffer_callback=buffer_callback).dump(obj)
    return file.getvalue()
