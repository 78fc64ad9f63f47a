"""Reducers of logging handlers, which have locks; see ``_reducers``."""

import logging


def reduce_handler(obj):
    if obj is logging.lastResort:
        return getattr, (logging, "lastResort")
    state = {k: v for k, v in vars(obj).items() if k not in ("lock", "_closed")}
    if isinstance(obj, logging.FileHandler):
        # The first record opens the file, and appends to it: nothing is truncated.
        state.update(stream=None, delay=True, mode=obj.mode.replace("w", "a"))
    return make_handler, (type(obj),), state, None, None, set_handler_state


def make_handler(cls):
    """A handler with a new lock, and no state yet."""
    handler = cls.__new__(cls)
    logging.Handler.__init__(handler)
    return handler


def set_handler_state(handler, state):
    """Sets all attributes of a handler but its lock."""
    vars(handler).update(state)
    name = state.get("_name")
    if name:
        handler.set_name(name)
