"""Send Python functions and objects to other processes, with the imports they need.

>>> import waybill
>>> data = waybill.dumps(lambda x: x + 1)
>>> waybill.loads(data)(41)
42

``loads`` runs code that the sender chose: load only what you trust. Policies, limits
and signatures are in ``waybill.security``, calls and their results in
``waybill.calls``, checks for missing modules in ``waybill.environment``, and support of
engines in ``waybill.integrations``.
"""

try:
    from waybill._core import cache_info, clear_caches, dumps, loads
except ModuleNotFoundError as missing_extension:
    import sys

    raise ImportError(
        f"waybill in {__path__[0]} was not built for this Python, "
        f"{sys.implementation.cache_tag}; install it for this one",
        name="waybill._core",
    ) from missing_extension
from waybill._api import lazy
from waybill._api.configuration import configure
from waybill._api.functions import ImportRecord, fingerprint, imports, inspect, prepare
from waybill._api.load_options import DATA_ONLY, restrict
from waybill._api.pickler import Pickler, Unpickler
from waybill._modules.by_value import (
    list_registry_pickle_by_value,
    register_pickle_by_value,
    unregister_pickle_by_value,
)
from waybill._state.baselines import ClassChange, forget_classes
from waybill._streams.files import dump, load, save

__version__ = "0.1.0"

#: The name of Pickler in cloudpickle, for programs written for that.
CloudPickler = Pickler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from waybill import calls as calls
    from waybill import environment as environment
    from waybill import security as security
    from waybill._api.errors import (
        DecodeError,
        EncodeError,
        Error,
        MissingModuleError,
        PolicyError,
        PythonMismatchError,
        SignatureError,
    )
    from waybill._api.errors import DecodeError as UnpicklingError
    from waybill._api.errors import EncodeError as PicklingError
    from waybill._explain.explanation import Explanation
    from waybill._explain.explanation import explain as explain
    from waybill._explain.size_warnings import SizeWarning
    from waybill._kinds.opaque import Opaque
    from waybill._pickled import pickled
    from waybill._streams.parts import open as open
    from waybill.environment import missing as missing
else:

    def __getattr__(name):
        """Loads a lazy name, and stores it as an attribute for later uses."""
        found = globals()[name] = lazy.find(name)
        return found

    def __dir__():
        return sorted({*globals(), *lazy.NAMES})


del TYPE_CHECKING

__all__ = [
    "DATA_ONLY",
    "ClassChange",
    "CloudPickler",
    "DecodeError",
    "EncodeError",
    "Error",
    "Explanation",
    "ImportRecord",
    "MissingModuleError",
    "Opaque",
    "Pickler",
    "PicklingError",
    "PolicyError",
    "PythonMismatchError",
    "SignatureError",
    "SizeWarning",
    "Unpickler",
    "UnpicklingError",
    "cache_info",
    "clear_caches",
    "configure",
    "dump",
    "dumps",
    "explain",
    "fingerprint",
    "forget_classes",
    "imports",
    "inspect",
    "list_registry_pickle_by_value",
    "load",
    "loads",
    "missing",
    "pickled",
    "prepare",
    "register_pickle_by_value",
    "restrict",
    "save",
    "unregister_pickle_by_value",
]
