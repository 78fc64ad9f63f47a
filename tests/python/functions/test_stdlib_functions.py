"""Functions of the standard library, sent by value, arrive as they are there anyway."""

import ast
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("stdlib_worker.py")
SECONDS = 120
# Some modules build tables from sets, or copy the environment.
ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0", "PYTEST_CURRENT_TEST": ""}
MODULES = """
abc argparse ast asyncio.base_events asyncio.events asyncio.queues asyncio.streams
asyncio.tasks base64 bdb calendar cmd code codecs codeop collections colorsys
compileall concurrent.futures._base concurrent.futures.thread configparser contextlib
copy copyreg csv ctypes.util dataclasses difflib dis doctest email.header
email._header_value_parser email.message email.parser enum filecmp fileinput fnmatch
fractions ftplib functools getopt gettext glob graphlib gzip heapq hmac html.parser
http.client http.cookies http.server imaplib importlib.util inspect ipaddress
json.decoder json.encoder linecache locale logging logging.config logging.handlers
mailbox mimetypes multiprocessing.managers multiprocessing.pool netrc ntpath numbers
optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posixpath
pprint profile pstats pyclbr pydoc queue random reprlib sched selectors shelve shlex
shutil smtplib socket socketserver statistics string subprocess symtable tarfile
tempfile textwrap threading timeit tokenize trace traceback tracemalloc types typing
unittest.case unittest.mock urllib.parse urllib.request uuid warnings wave weakref
xml.dom.minidom xml.etree.ElementTree xml.sax.saxutils xmlrpc.client zipfile _pydecimal
_pydatetime _pyio
""".split()
# Of all functions, the share that may be refused: those whose globals or closures hold
# locks, files, context variables, weak references or C objects without a reducer.
REFUSED_LIMIT = 0.05


def run(*arguments):
    command = [sys.executable, str(WORKER), *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def received(folder, module):
    run("send", folder, module)
    if isinstance(marshal.loads((folder / f"{module}.sent").read_bytes()), str):
        pytest.skip(f"no module {module} here")
    return ast.literal_eval(run("receive", folder, module).splitlines()[-1])


@pytest.fixture(scope="module")
def totals():
    return {"arrived": 0, "refused": {}}


@pytest.mark.parametrize("module", MODULES)
def test_functions_arrive_as_the_receiver_has_them(tmp_path, totals, module):
    answer = received(tmp_path, module)

    totals["arrived"] += answer["arrived"]
    totals["refused"] |= {f"{module}.{k}": v for k, v in answer["refused"].items()}
    assert not answer["complaints"]
    assert all(" (" in path for path in answer["refused"].values())


def test_few_functions_are_refused(totals):
    arrived, refused = totals["arrived"], totals["refused"]

    print(f"{arrived} functions arrived, {len(refused)} were refused")
    assert len(refused) <= REFUSED_LIMIT * (arrived + len(refused)), refused
