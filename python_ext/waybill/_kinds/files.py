"""Reducers of open files: the content travels, the file does not; see ``_reducers``."""

import io
import sys
from _pickle import PicklingError


def reduce_file(obj):
    """A file that is open for reading becomes its content, at the same position."""
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        if obj is getattr(sys, name, None):
            return getattr, (sys, name)
    if obj is sys.stdin or obj is sys.__stdin__:
        raise PicklingError("Cannot pickle standard input")
    if obj.closed:
        raise PicklingError("Cannot pickle closed files")
    if obj.isatty():
        raise PicklingError("Cannot pickle files that map to tty objects")
    if not obj.readable():
        mode = getattr(obj, "mode", "w")
        raise PicklingError(
            f"Cannot pickle files that are not opened for reading: {mode}"
        )
    name = getattr(obj, "name", None)
    try:
        content, position = _read_all(obj)
    except (OSError, ValueError) as error:
        raise PicklingError(f"Cannot pickle file {name}: {error}") from error
    return make_file, (content, position, name)


def _read_all(file):
    here = file.tell()
    try:
        rest = file.read()
        file.seek(0)
        content = file.read()
    finally:
        file.seek(here)
    return content, len(content) - len(rest)


def reduce_temporary_file(obj):
    return reduce_file(obj.file)


def make_file(content, position, name):
    """A file in memory with the content and the name of the sender's file."""
    file = io.BytesIO(content) if isinstance(content, bytes) else io.StringIO(content)
    file.seek(position)
    file.name = name
    return file
