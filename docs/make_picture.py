"""Writes the picture of an explanation that the README and explain.md show.

    python docs/make_picture.py [FILE]

explains the task below, and takes a picture of the page in Chromium: to
docs/plots/explain.png, unless another file is named. `.ci/docs` runs it.
"""

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "browser"))

JOB = """
import sqlite3
import sys
import waybill


class Service:
    def __init__(self):
        self.conn = sqlite3.connect(":memory:")
        self.names = {n: f"customer {n}" for n in range(40_000)}


class Model:
    def __init__(self):
        self.weights = bytearray(9_000_000)
        self.vocabulary = [f"word {n}" for n in range(150_000)]


service, model = Service(), Model()
LOOKUP = {n: str(n * n) for n in range(60_000)}


def score(n):
    return LOOKUP[n], model.weights[n]


def describe(n):
    return model.vocabulary[n], service.names[n]


class Job:
    defaults = list(range(400_000))

    def run(self, n):
        return self.defaults[n], score(n), describe(n), service.conn


def task(n):
    return Job().run(n)


if __name__ == "__main__":
    waybill.explain(task).to_html(sys.argv[1])
"""


def main(picture: Path) -> None:
    from chromium import Chromium

    with tempfile.TemporaryDirectory() as folder:
        job, page = Path(folder) / "job.py", Path(folder) / "job.html"
        job.write_text(textwrap.dedent(JOB))
        subprocess.run([sys.executable, job, page], check=True)
        browser = Chromium(Path(folder) / "profile")
        try:
            shown = browser.open(page.as_uri(), width=960, height=560)
            shown.picture(picture, whole=False)
        finally:
            browser.close()


if __name__ == "__main__":
    chosen = sys.argv[1:] or [ROOT / "docs" / "plots" / "explain.png"]
    main(Path(chosen[0]))
