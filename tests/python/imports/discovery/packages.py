"""The made-up packages that the shapes of the corpus use.

Each module holds its own dotted name in VALUE, so the result of a shape tells which
module it has reached. Modules import nothing of each other unless IMPLIED says so.
"""

import os
from pathlib import Path

# Set in the receiving process: there `poison` modules cannot be imported, as an
# optional module that a worker lacks.
RECEIVER_FLAG = "CORPUS_RECEIVER"

_PLAIN = """\
VALUE = {name!r}


def where():
    return {name!r}


class Thing:
    tag = {name!r} + ".Thing"

    def method(self):
        return self.tag


class Failure(Exception):
    pass


class Scope:
    def __enter__(self):
        return {name!r}

    def __exit__(self, *error):
        return False


def decorate(function):
    return function


TABLE = {{"key": {name!r}}}
counter = 0
"""

_POISON = f'''\
import os

if os.environ.get("{RECEIVER_FLAG}"):
    raise ImportError(__name__ + " is not to be had here")
'''

# Attributes on the package that only share their names with submodules.
_PACKAGE = """

class Settings:
    sub1 = "settings.sub1"
    poison = "settings.poison"
    deep = "settings.deep"


settings = Settings()
label = "text"


def identity(value):
    return value


def shout(*parts, **named):
    return "!".join([*map(str, parts), *map(str, named.values())])
"""

# Every question is noted; asking is what a serializer must not do.
_HOOK = """\
import corpus_hooks

VALUE = "pkghook"


def __getattr__(name):
    corpus_hooks.LOG.append("pkghook.__getattr__ " + name)
    if name == "lazy_sub":
        import importlib

        return importlib.import_module("pkghook.lazy_sub")
    if name == "virtual":
        return "virtual value"
    if name == "explosive":
        raise RuntimeError("asked for pkghook.explosive")
    raise AttributeError(name)


def __dir__():
    corpus_hooks.LOG.append("pkghook.__dir__")
    return ["lazy_sub", "virtual", "explosive"]
"""

# As lazy_loader does it: the first use binds the function over its module's name.
_SHADOW = """\
VALUE = "pkgshadow"


def __getattr__(name):
    if name == "func":
        import importlib

        function = importlib.import_module("pkgshadow.func").func
        globals()["func"] = function
        return function
    raise AttributeError(name)
"""

_PROPERTIES = """\
import sys
import types

import corpus_hooks

VALUE = "pkgprop"


class Careful(types.ModuleType):
    @property
    def volatile(self):
        corpus_hooks.LOG.append("pkgprop.volatile")
        raise RuntimeError("asked for pkgprop.volatile")

    @property
    def computed(self):
        corpus_hooks.LOG.append("pkgprop.computed")
        return "computed value"


sys.modules[__name__].__class__ = Careful
"""

_GETATTRIBUTE = """\
import sys
import types

import corpus_hooks

VALUE = "pkgwatch"


class Watched(types.ModuleType):
    def __getattribute__(self, name):
        corpus_hooks.LOG.append("pkgwatch.__getattribute__ " + name)
        return super().__getattribute__(name)


sys.modules[__name__].__class__ = Watched
"""

_FACADE = """\
import sys
import types


class Facade(types.ModuleType):
    VALUE = "facade"


_facade = Facade(__name__)
_facade.__spec__ = __spec__
_facade.original = __name__ + " original"
sys.modules[__name__] = _facade
"""

_OBJECT = """\
import sys


class Registry:
    VALUE = "registry object"


sys.modules[__name__] = Registry()
"""

_ALIAS = """\
import sys

from . import _impl as path

VALUE = "pkgalias"
alt = path
sys.modules["pkgalias.path"] = path
"""

_LAZY = """\
lazy from . import one
lazy import pkglazy.two

VALUE = "pkglazy"
"""


def plain(name, extra=""):
    return _PLAIN.format(name=name) + extra


def source_files(version):
    """Path and text of each file, for a Python of this (major, minor)."""
    files = {"corpus_hooks.py": "LOG = []\n", "plainmod.py": plain("plainmod")}
    for top in ("pkga", "pkgb"):
        files[f"{top}/__init__.py"] = plain(top, _PACKAGE)
        files[f"{top}/poison.py"] = plain(f"{top}.poison", _POISON)
        files[f"{top}/deep/__init__.py"] = plain(f"{top}.deep")
        for module in ("sub1", "sub2", "deep.leaf", "deep.twig"):
            path = f"{top}/{module.replace('.', '/')}.py"
            files[path] = plain(f"{top}.{module}")
    files["plainmod.py"] += 'sub1 = "plainmod attribute sub1"\n'
    files["pkghook/__init__.py"] = _HOOK
    files["pkghook/lazy_sub.py"] = plain("pkghook.lazy_sub")
    files["pkghook/plain.py"] = plain("pkghook.plain")
    files["pkgshadow/__init__.py"] = _SHADOW
    files["pkgshadow/func.py"] = "def func():\n    return 'the function'\n"
    files["pkgprop/__init__.py"] = _PROPERTIES
    files["pkgprop/real.py"] = plain("pkgprop.real")
    files["pkgwatch/__init__.py"] = _GETATTRIBUTE
    files["pkgwatch/real.py"] = plain("pkgwatch.real")
    files["pkgreplaced/__init__.py"] = "from . import obj\n\nVALUE = 'pkgreplaced'\n"
    files["pkgreplaced/swap.py"] = _FACADE
    files["pkgreplaced/obj.py"] = _OBJECT
    files["pkgalias/__init__.py"] = _ALIAS
    files["pkgalias/_impl.py"] = plain("pkgalias._impl")
    files["pkgcross/__init__.py"] = (
        "import pkgb.sub1 as borrowed\n\nVALUE = 'pkgcross'\n"
    )
    files["pkgeager/__init__.py"] = "from . import inner\n\nVALUE = 'pkgeager'\n"
    files["pkgeager/inner.py"] = plain("pkgeager.inner")
    files["pkgvalue/__init__.py"] = "VALUE = 'pkgvalue'\nsub1 = 'a value'\n"
    files["pkgvalue/sub1.py"] = plain("pkgvalue.sub1")
    files["pkgunbound/__init__.py"] = plain("pkgunbound")
    files["pkgunbound/loose.py"] = plain("pkgunbound.loose")
    files["pkgnameless/__init__.py"] = "VALUE = 'pkgnameless'\ndel __name__\n"
    files["pkgnameless/sub1.py"] = plain("pkgnameless.sub1")
    files["pkglies/__init__.py"] = plain("pkglies")
    files["pkglies/mask.py"] = plain("pkglies.mask", "\n__name__ = 'no.such.name'\n")
    files["pkglies/thief.py"] = plain("pkglies.thief", "\n__name__ = 'pkga.sub1'\n")
    files["nspkg/part1.py"] = plain("nspkg.part1")
    files["nspkg/part2.py"] = plain("nspkg.part2")
    files["nspkg/inner/leaf.py"] = plain("nspkg.inner.leaf")
    if version >= (3, 15):
        files["pkglazy/__init__.py"] = _LAZY
        files["pkglazy/one.py"] = plain("pkglazy.one")
        files["pkglazy/two.py"] = plain("pkglazy.two")
        files["pkglazy/deep/__init__.py"] = (
            "lazy from . import er\nlazy from .. import er as other\n"
        )
        for place in "pkglazy", "pkglazy.deep":
            folder = f"{place.replace('.', '/')}/er"
            files[f"{folder}/__init__.py"] = plain(f"{place}.er")
            files[f"{folder}/most.py"] = plain(f"{place}.er.most")
    return files


# Synthetic top-level names; nothing else is compared unless a shape watches it.
TOPS = frozenset(
    path.split("/")[0].removesuffix(".py") for path in source_files((9, 9))
) - {"corpus_hooks"}

# What the sender has loaded before a shape is built, unless the shape is `bare`:
# the more is loaded, the more there is to confuse with what a function needs.
PRELOADED = tuple(
    f"{top}.{module}"
    for top in ("pkga", "pkgb")
    for module in ("sub1", "sub2", "poison", "deep.leaf", "deep.twig")
)

# Modules that importing a module brings with it, beside its parents.
IMPLIED = {
    "pkgalias": ("pkgalias._impl", "pkgalias.path"),
    "pkgcross": ("pkgb", "pkgb.sub1"),
    "pkgeager": ("pkgeager.inner",),
    "pkgreplaced": ("pkgreplaced.obj",),
}


def with_consequences(modules):
    """All synthetic modules that are loaded once `modules` have been imported."""
    loaded, pending = set(), list(modules)
    while pending:
        module = pending.pop()
        if module not in loaded:
            loaded.add(module)
            pending.extend(IMPLIED.get(module, ()))
            if "." in module:
                pending.append(module.rpartition(".")[0])
    return loaded


def write_packages(root, version):
    for path, text in source_files(version).items():
        target = Path(root, path)
        os.makedirs(target.parent, exist_ok=True)
        target.write_text(text)
