"""The exceptions of waybill. The extension raises them; nothing else is in here."""


class Error(Exception):
    """Whatever goes wrong in waybill; the base of all errors below."""


class EncodeError(Error):
    """An object cannot travel.

    ``path`` tells where it hangs, from the object that was given to ``dumps``:
    ``f.__globals__['client'].session._lock (_thread.lock)``. What the object itself
    raised, if it did, is the ``__cause__``.
    """

    path = ""


class DecodeError(Error):
    """Bytes that are no payload, or not one that can be loaded here.

    ``code`` names the kind of error, as ``docs/wire_format.md`` lists them; ``offset``
    is the byte that showed it.
    """

    code = ""
    offset = 0


class PythonMismatchError(DecodeError):
    """The payload holds code for another Python; the message names both."""


class MissingModuleError(Error, ModuleNotFoundError):
    """A module that the payload needs cannot be imported here.

    ``name`` is the module; the message says what needs it and where that stands. The
    ``__cause__`` is the error of the import.
    """
