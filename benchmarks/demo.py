"""Runs one workload on a Dask cluster twice: with cloudpickle, then with waybill.

    python benchmarks/demo.py [--tasks N]

The cluster is started here: a scheduler and two worker processes on this machine, which
cannot import the functions below. With waybill, there is one line more: install().
"""

import argparse
import collections
import contextlib
import os
import re
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

import dask_meter
import distributed
import numpy
import waybill
import waybill.integrations.dask

COLOURS = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
BOLD, DIM, GREEN = "1", "2", "32"
ROOT = Path(__file__).resolve().parents[1]
ATOM = "{http://www.w3.org/2005/Atom}"


# ---- The work ----------------------------------------------------------------------


def make_counter(pattern):
    """A closure over a compiled pattern."""
    word = re.compile(pattern)

    def count_words(text):
        return collections.Counter(found.lower() for found in word.findall(text))

    return count_words


def read_feed(feed):
    """The authors of an Atom feed, and how many entries each has."""
    root = xml.etree.ElementTree.fromstring(feed)
    authors = root.iterfind(f"{ATOM}entry/{ATOM}author/{ATOM}name")
    return collections.Counter(author.text for author in authors)


class Fit:
    """A line through noisy points."""

    def __init__(self, slope, residual):
        self.slope, self.residual = slope, residual


def fit_line(points):
    """Least squares; the result is of a class that only this program defines."""
    x, y = points
    matrix = numpy.stack([x, numpy.ones_like(x)], axis=1)
    solution, residuals, *_ = numpy.linalg.lstsq(matrix, y, rcond=None)
    return Fit(solution[0], residuals[0])


def paragraphs(count):
    """Paragraphs of this project's documentation."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md"))]
    found = [part for text in texts for part in text.split("\n\n") if part.strip()]
    return [found[i % len(found)] for i in range(count)]


def feeds(count):
    names = ("Ada", "Grace", "Kateryna", "Mary", "Radia")
    for i in range(count):
        authors = (names[(i + j) % len(names)] for j in range(20))
        entries = "".join(
            f"<entry><author><name>{author}</name></author></entry>"
            for author in authors
        )
        yield f"<feed xmlns='{ATOM.strip('{}')}'>{entries}</feed>"


def measurements(count):
    generator = numpy.random.default_rng(7)
    for _ in range(count):
        x = numpy.linspace(0, 1, 2000)
        yield x, 3 * x + generator.normal(0, 0.1, x.size)


def submit_all(client, count):
    """{part of the work: its futures}, with `count` tasks for each part."""
    return {
        "words": client.map(make_counter(r"[A-Za-z]{4,}"), paragraphs(count)),
        "authors": client.map(read_feed, list(feeds(count))),
        "lines": client.map(fit_line, list(measurements(count))),
    }


def summarize(results):
    words = sum(results["words"], collections.Counter())
    authors = sum(results["authors"], collections.Counter())
    assert all(type(fit) is Fit for fit in results["lines"])
    slope = sum(fit.slope for fit in results["lines"]) / len(results["lines"])
    return {
        "words": ", ".join(f"{word} {times}" for word, times in words.most_common(4)),
        "authors": ", ".join(
            f"{name} {times}" for name, times in sorted(authors.items())
        ),
        "lines": f"mean slope {slope:.4f}",
    }


# ---- Runs --------------------------------------------------------------------------


@contextlib.contextmanager
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


def run(name, count, install):
    """Results, seconds, and the figures of the client and of the workers."""
    with cluster() as client:
        install(client)
        dask_meter.start_all(client)
        start = time.perf_counter()
        futures = submit_all(client, count)
        show_progress(name, [future for part in futures.values() for future in part])
        results = {part: client.gather(futures[part]) for part in futures}
        seconds = time.perf_counter() - start
        here, there = dask_meter.stop_all(client)
    waybill.integrations.dask.uninstall()
    return summarize(results), seconds, here, there


def show_progress(name, futures):
    done = 0
    for _ in distributed.as_completed(futures):
        done += 1
        if sys.stdout.isatty():
            bar = "━" * (30 * done // len(futures))
            print(f"\r{name:12} {bar:30} {done}/{len(futures)}", end="", flush=True)
    print("" if sys.stdout.isatty() else f"{name:12} {done} tasks")


# ---- Output ------------------------------------------------------------------------


def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if COLOURS else text


def rows(seconds, here, there):
    yield "bytes packed", f"{(here['bytes'] + there['bytes']) / 1e6:.2f} MB"
    yield "packing, client and scheduler", f"{here['packing'] * 1e3:.0f} ms"
    yield "unpacking, client and scheduler", f"{here['unpacking'] * 1e3:.0f} ms"
    yield "packing, workers", f"{there['packing'] * 1e3:.0f} ms"
    yield "unpacking, workers", f"{there['unpacking'] * 1e3:.0f} ms"
    total = sum(
        side[what] for side in (here, there) for what in ("packing", "unpacking")
    )
    yield "all serialisation", f"{total * 1e3:.0f} ms"
    yield "from first to last", f"{seconds:.2f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=900, help="default 900")
    count = max(1, parser.parse_args().tasks // 3)
    versions = f"Python {sys.version.split()[0]}, distributed {distributed.__version__}"
    print(paint(f"waybill {waybill.__version__}, {versions}", BOLD))
    print(f"{3 * count} tasks on a scheduler and two worker processes")

    theirs = run("cloudpickle", count, lambda client: None)
    ours = run("waybill", count, waybill.integrations.dask.install)

    print()
    assert ours[0] == theirs[0], "the results differ"
    for part, found in ours[0].items():
        print(f"  {part:8} {paint(found, GREEN)}")
    print()
    print(paint(f"{'':34}{'cloudpickle':>14}{'waybill':>12}", BOLD))
    for (what, peer), (_, own) in zip(rows(*theirs[1:]), rows(*ours[1:]), strict=True):
        print(f"{what:34}{peer:>14}{paint(f'{own:>12}', GREEN)}")
    print(paint("the same results; most of the time is Dask's own", DIM))


if __name__ == "__main__":
    main()
