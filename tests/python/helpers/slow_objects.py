"""A class for scripts, whose instances let other threads run while they travel."""

#: The source of the class, which needs the module `time`.
SLOW = """
class Slow:
    # Other threads get a turn inside of dumps and of loads.
    def __reduce__(self):
        time.sleep(0)
        return make_slow, ()
def make_slow():
    time.sleep(0)
    return Slow()
"""
