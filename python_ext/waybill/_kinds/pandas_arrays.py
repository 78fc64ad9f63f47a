"""Reducer of pandas extension arrays and their dtypes: equal ones give equal bytes.

From pandas 3 on a view stores whether it is read-only, which other arrays inherit from
their class. Using an array adds caches. Neither is sent.

Used by ``_reducers``. Tested by tests/libraries/test_pandas.py.
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
    # Sorted: a view has its attributes in another order.
    own = {k: v for k, v in sorted(state.items()) if k != "_cache"}
    if own.get("_readonly", ...) is getattr(type(obj), "_readonly", None):
        del own["_readonly"]
    return own
