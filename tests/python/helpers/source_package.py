"""Lets ``waybill._source`` be imported where the extension is not built.

Its modules then load without the extension. Import this first.
"""

import sys
import types
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "python_ext" / "waybill"

try:
    import waybill
except ImportError:
    for name in [n for n in sys.modules if n.partition(".")[0] == "waybill"]:
        del sys.modules[name]
    sys.modules["waybill"] = types.ModuleType("waybill")
    sys.modules["waybill"].__path__ = [str(PACKAGE)]
