"""Counts the shapes of the corpus that cloudpickle gets, per category.

    python against_cloudpickle.py [--serializer NAME] [--verbose]

`runs`: the function gives the expected value in a process that has imported nothing.
`exact`: it runs, and loading it imported no module that it does not need.
`quiet`: sending it asked no module's hooks and imported nothing.
"""

import argparse
import collections
import sys
import tempfile

import both_ends
import corpus
import packages


def judged(shape, sent, received):
    """The marks that the shape earns, and what stands against the others."""
    if sent["error"] or received is None:
        return set(), f"{sent['stage']}: {sent['error']}"
    marks, complaints = set(), []
    if not sent["asked"] and not sent["imported"]:
        marks.add("quiet")
    else:
        complaints.append(f"not quiet: {sent['asked']} {sent['imported']}")
    if received["error"]:
        return marks, f"{received['stage']}: {received['error']}"
    if shape.is_run and received["result"] != shape.gives:
        return marks, f"gives {received['result']}"
    marks.add("runs")
    needed = packages.with_consequences(shape.load | shape.may | shape.watch)
    surplus = [name for name in received["loaded"] if name not in needed]
    surplus += [n for n in received["loaded"] if n in shape.watch - shape.load]
    if surplus:
        complaints.append(f"imports too much: {sorted(set(surplus))}")
    else:
        marks.add("exact")
    return marks, "; ".join(complaints)


def invalid(shape, sent):
    """Why the shape itself is wrong: its function must run where it was made."""
    if sent["stage"] == "build":
        return sent["error"]
    if not shape.is_run or "norun" in shape.sender:
        return None
    found = sent.get("result", sent["error"])
    return None if found == shape.gives else f"gives {found}"


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--serializer", default="cloudpickle")
    options.add_argument("--verbose", action="store_true")
    chosen = options.parse_args()

    version = sys.version_info[:2]
    shapes = [s for s in corpus.read_shapes() if s.exists_on(version)]
    with tempfile.TemporaryDirectory() as folder:
        sent, received = both_ends.run_both_ends(shapes, chosen.serializer, folder)

    totals = collections.defaultdict(collections.Counter)
    for shape in shapes:
        if wrong := invalid(shape, sent[shape.id]):
            print(f"INVALID {shape.id}: {wrong}")
        marks, complaint = judged(shape, sent[shape.id], received.get(shape.id))
        for category in (shape.category, "all"):
            totals[category].update(marks | {"shapes"})
        if complaint and chosen.verbose:
            print(f"{shape.id}: {complaint}")

    columns = ("shapes", "runs", "exact", "quiet")
    title = f"{chosen.serializer} {version[0]}.{version[1]}"
    print(f"{title:20}", *(f"{column:>7}" for column in columns))
    for category in sorted(totals, key=lambda name: (name == "all", name)):
        counts = totals[category]
        print(f"{category:20}", *(f"{counts[column]:7}" for column in columns))


if __name__ == "__main__":
    main()
