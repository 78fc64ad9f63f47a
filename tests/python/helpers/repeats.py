"""How often a test repeats what it does.

In full with this machine's Python and without sanitizers. Otherwise WAYBILL_REPEATS is
a share, such as 0.3: threads and random graphs then look only for errors that depend on
the interpreter, and need fewer turns.
"""

import os

SHARE = float(os.environ.get("WAYBILL_REPEATS", "1"))


def times(number):
    return max(1, round(number * SHARE))
