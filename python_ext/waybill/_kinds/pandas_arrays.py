"""Extension arrays of pandas and their dtypes: equal ones are sent as equal.

From pandas 3 on a view has an attribute that says whether it may be written to, where
another array has that of its class; and what was used has what pandas has derived from
it. Neither is sent.

Asked by ``_reducers``. Tested by tests/libraries/test_pandas.py.
"""


def reduce_without_cache(obj):
    made, arguments, *others = obj.__reduce_ex__(5)
    state = others[0] if others else None
    if type(state) is dict:
        others[0] = _own_attributes(obj, state) or None
    elif type(state) is tuple and type(state[-1]) is dict:
        # The values, and the attributes if there are any.
        attributes = _own_attributes(obj, state[-1])
        others[0] = (*state[:-1], attributes) if attributes else state[:-1]
    return made, arguments, *others


def _own_attributes(obj, state):
    # In one order: that of a view is another.
    own = {k: v for k, v in sorted(state.items()) if k != "_cache"}
    if own.get("_readonly", ...) is getattr(type(obj), "_readonly", None):
        del own["_readonly"]
    return own
