"""Send Python functions and objects to other processes, with the imports they need.

>>> import waybill
>>> data = waybill.dumps(lambda x: x + 1)
>>> waybill.loads(data)(41)
42

``loads`` runs code that the sender chose: load only what you trust.
"""

from waybill._core import dumps, fingerprint, loads
from waybill._errors import (
    DecodeError,
    EncodeError,
    Error,
    MissingModuleError,
    PythonMismatchError,
)
from waybill._face import ImportRecord, dump, imports, inspect, load

__version__ = "0.1.0"

__all__ = [
    "DecodeError",
    "EncodeError",
    "Error",
    "ImportRecord",
    "MissingModuleError",
    "PythonMismatchError",
    "dump",
    "dumps",
    "fingerprint",
    "imports",
    "inspect",
    "load",
    "loads",
]
