"""Handlers of logging, with locks of their own; see ``_reducers``."""

import logging


def reduce_handler(obj):
    if obj is logging.lastResort:
        return getattr, (logging, "lastResort")
    state = {k: v for k, v in vars(obj).items() if k not in ("lock", "_closed")}
    if isinstance(obj, logging.FileHandler):
        # Opened when something is written, and never emptied by that.
        state.update(stream=None, delay=True, mode=obj.mode.replace("w", "a"))
    return make_handler, (type(obj),), state, None, None, set_handler_state


def make_handler(cls):
    """A handler with a new lock, and nothing else yet."""
    handler = cls.__new__(cls)
    logging.Handler.__init__(handler)
    return handler


def set_handler_state(handler, state):
    """What a handler is, but for its lock."""
    vars(handler).update(state)
    name = state.get("_name")
    if name:
        handler.set_name(name)
