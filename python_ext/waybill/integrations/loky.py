"""The pickler of loky, for this process and its workers.

A worker gets the name of this module with each task, and sends results by it.
``waybill.integrations.joblib`` installs it; LOKY_PICKLER can name it.
"""

from __future__ import annotations

import sys
from typing import Any

from waybill._api.errors import EncodeError
from waybill.integrations import _following, pickle
from waybill.integrations._failures import MESSAGES, call_fallback, result_fallback

#: loky inside joblib, and loky by itself.
PACKAGES = "joblib.externals.loky", "loky"


class Pickler(pickle.Pickler):
    """Sends the options of ``install`` to workers."""

    def dump(self, obj: object) -> None:
        """Writes one message. If the exception of a task cannot be sent, sends the
        EncodeError in its place: raised here, it would end the worker."""
        try:
            super().dump(obj)
        except EncodeError as refusal:
            result = with_refusal(obj, refusal)
            if result is None:
                raise
            super().dump(result)

    def first_call(self) -> pickle.FirstCall | None:
        options = _following.packed_options()
        return (_following.follow, options) if options else None


def with_refusal(message: Any, refusal: EncodeError) -> Any:
    """The result of a task that raised, with the refusal as its exception and the text
    of the task's traceback; None for any other message."""
    raised: Any = getattr(message, "exception", None)
    is_result = MESSAGES.get(type(message)) is result_fallback
    if not is_result or not hasattr(raised, "tb"):
        return None
    wrapped = type(raised)(refusal)
    wrapped.tb = raised.tb
    return type(message)(**{**vars(message), "exception": wrapped})


def register_messages() -> None:
    """Registers fallbacks for the calls and results of loky; see _failures.py."""
    for name in PACKAGES:
        executor = sys.modules.get(f"{name}.process_executor")
        if executor is not None:
            MESSAGES[executor._CallItem] = call_fallback
            MESSAGES[executor._ResultItem] = result_fallback


register_messages()  # In a worker, which imports this module with its first task.
