"""What loky pickles with, in this process and in its workers.

A worker gets the name of this module with each task, and answers by it.
``waybill.integrations.joblib`` installs it; LOKY_PICKLER can name it.
Tested by tests/engines/test_joblib.py.
"""

from __future__ import annotations

import sys
from typing import Any

from waybill._api.errors import EncodeError
from waybill.integrations import _following, pickle
from waybill.integrations._failures import MESSAGES, of_call, of_result

#: Where a loky is: that within joblib, the one that stands by itself.
PACKAGES = "joblib.externals.loky", "loky"


class Pickler(pickle.Pickler):
    """Tells workers of the options that ``install`` was given."""

    def dump(self, obj: object) -> None:
        """Writes one message. The EncodeError goes in the place of an exception of a
        task that cannot be sent: raised here, it would end the worker."""
        try:
            super().dump(obj)
        except EncodeError as refusal:
            result = with_refusal(obj, refusal)
            if result is None:
                raise
            super().dump(result)

    def called_first(self) -> pickle.FirstCall | None:
        told = _following.packed()
        return (_following.follow, told) if told else None


def with_refusal(message: Any, refusal: EncodeError) -> Any:
    """The result of a task that raised, with the refusal as its exception and the text
    of the task's traceback; None for any other message."""
    raised: Any = getattr(message, "exception", None)
    if MESSAGES.get(type(message)) is not of_result or not hasattr(raised, "tb"):
        return None
    wrapped = type(raised)(refusal)
    wrapped.tb = raised.tb
    return type(message)(**{**vars(message), "exception": wrapped})


def note_messages() -> None:
    """From now on, calls and results that cannot be loaded are failed ones."""
    for name in PACKAGES:
        executor = sys.modules.get(f"{name}.process_executor")
        if executor is not None:
            MESSAGES[executor._CallItem] = of_call
            MESSAGES[executor._ResultItem] = of_result


note_messages()  # In a worker, where this is imported with the first task.
