"""How often a test repeats what it does.

All of it with this machine's Python and without sanitizers. Elsewhere WAYBILL_REPEATS
is a share, such as 0.3: threads and random graphs find there what depends on the
interpreter, and need fewer turns for it.
"""

import os

SHARE = float(os.environ.get("WAYBILL_REPEATS", "1"))


def times(number):
    return max(1, round(number * SHARE))
