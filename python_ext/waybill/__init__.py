"""Send Python functions and objects to other processes, with the imports they need.

>>> import waybill
>>> data = waybill.dumps(lambda x: x + 1)
>>> waybill.loads(data)(41)
42

``loads`` runs code that the sender chose: load only what you trust.
"""

from waybill._core import dumps, loads
from waybill._errors import (
    DecodeError,
    EncodeError,
    Error,
    MissingModuleError,
    PolicyError,
    PythonMismatchError,
    SignatureError,
)
from waybill._face import ImportRecord, dump, fingerprint, imports, inspect, load
from waybill._modules import (
    list_registry_pickle_by_value,
    register_pickle_by_value,
    unregister_pickle_by_value,
)
from waybill._pickler import Pickler, Unpickler
from waybill._signatures import KeyRing, SigningKey, application, sign, verify

__version__ = "0.1.0"

#: Under the names that code written for pickle or cloudpickle asks for.
CloudPickler = Pickler
PicklingError = EncodeError
UnpicklingError = DecodeError

__all__ = [
    "CloudPickler",
    "DecodeError",
    "EncodeError",
    "Error",
    "ImportRecord",
    "KeyRing",
    "MissingModuleError",
    "Pickler",
    "PicklingError",
    "PolicyError",
    "PythonMismatchError",
    "SignatureError",
    "SigningKey",
    "Unpickler",
    "UnpicklingError",
    "application",
    "dump",
    "dumps",
    "fingerprint",
    "imports",
    "inspect",
    "list_registry_pickle_by_value",
    "load",
    "loads",
    "register_pickle_by_value",
    "sign",
    "unregister_pickle_by_value",
    "verify",
]
