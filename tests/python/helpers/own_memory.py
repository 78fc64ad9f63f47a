"""The memory of a process without files that it maps, and its peak."""

#: The source of memory(): KiB in pages of this process that no file backs. The resident
#: pages of /proc/self/statm count those of libraries too, which come and go with the
#: page cache, and are added up from counters of each CPU; here the pages are walked.
#: Huge pages are off: one would be 2 MiB at once.
MEMORY = """
import ctypes
PR_SET_THP_DISABLE = 41
ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)

def memory():
    with open("/proc/self/smaps_rollup") as file:
        for line in file:
            if line.startswith("Anonymous:"):
                return int(line.split()[1])
"""

#: The source of peak(): MiB that were resident at most. getrusage() would include the
#: peak of the process before exec().
PEAK = """
import re
def peak():
    status = open("/proc/self/status").read()
    return int(re.search("VmHWM:(.*) kB", status)[1]) / 1024
"""
