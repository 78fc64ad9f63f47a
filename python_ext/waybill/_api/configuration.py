"""Options that a process sets once for all of its calls.

One table says which there are. Tested by tests/python/api/test_configure.py.
"""

from __future__ import annotations

from waybill import _core
from waybill._api import lazy
from waybill._api.named_tuples import NamedTuple
from waybill._modules.by_value import names_of
from waybill._reducers.replacements import Replacements
from waybill._state.baselines import MAX_CLASS_BYTES, MAX_CLASSES
from waybill._state.baselines import TABLE as CLASSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal

    from waybill._environment.renames import Renames
    from waybill._modules.by_value import ByValue

    #: "zstd", ("zstd", level), or False for none.
    Compress = str | tuple[str, int] | Literal[False]
    #: Whether the source of functions travels beside their code.
    Source = Literal["auto"] | bool
    #: A device, as a str or a torch.device; or what makes one of the sender's.
    MapLocation = object | Mapping[str, object] | Callable[[str], object]
    #: Names that are others here, as ``waybill.environment.Renames`` takes them.
    RenameRules = Mapping[str, str] | Renames

#: What was set, by name, as ``Option.ready`` made it. What is as at the start is not in
#: it: the extension asks only whether there is anything.
OPTIONS: dict[str, Any] = {}

#: Whose word alone may count, as ``class_state`` names it.
SIDES = ("sender", "worker")


def chosen(name: str, given: Any = None) -> Any:
    """What holds for a call: its own argument, unless it is None, or else the process's
    option. Raises what the option does of a value that it does not take."""
    return OPTIONS.get(name) if given is None else TABLE[name].ready(given)


class Option(NamedTuple):
    """A row of the table."""

    #: Checks a value, and makes of it what calls need.
    ready: Callable[[Any], Any]
    #: Whether engines hand it on to their workers. Secrets stay, and what only this
    #: process has.
    travels: bool = True
    #: Carries it out, for what no call takes; None is what holds at the start.
    apply: Callable[[Any], object] | None = None


def _by_value(modules: ByValue) -> tuple[str, ...]:
    return tuple(names_of(modules))


def _application(application: Any) -> bytes:
    return bytes(memoryview(application))


def _compress(compress: Any) -> int:
    """The level of zstd; 0 for none."""
    if compress is False:
        return 0
    is_pair = isinstance(compress, tuple) and len(compress) == 2
    method, level = compress if is_pair else (compress, 3)
    if method != "zstd":
        raise ValueError(
            f'compress should be "zstd", ("zstd", level) or False, got {compress!r}'
        )
    if type(level) is not int or not -7 <= level <= 19 or level == 0:
        raise ValueError(
            "the level of zstd should be 1 to 19, or -7 to -1 to be faster, "
            f"got {level!r}"
        )
    return level


def _source(source: Any) -> int:
    """What the extension calls SourceUse."""
    for number, known in enumerate((False, "auto", True)):
        if source is known or (known == "auto" and source == known):
            return number
    raise ValueError(f'source should be "auto", True or False, got {source!r}')


def _warn_above(size: Any) -> int:
    """Bytes; 0 for never, not even where an engine has a threshold of its own."""
    if type(size) is not int or size < 0:
        raise ValueError(f"warn_above should be an int of at least 0, got {size!r}")
    return size


def _environment(is_told: Any) -> Any:
    """What tells of the environment; 0 for nothing, not even where it is told by
    itself."""
    if type(is_told) is not bool:
        raise TypeError(f"environment should be True or False, got {is_told!r}")
    return lazy.load("_environment.distributions").environment_of if is_told else 0


def _class_state(side: Any) -> Any:
    if side not in SIDES:
        raise ValueError(f'class_state should be "sender" or "worker", got {side!r}')
    return side


def _missing(missing: Any) -> bool:
    """Whether modules that are missing are left out."""
    if missing not in ("error", "later"):
        raise ValueError(f'missing should be "error" or "later", got {missing!r}')
    return bool(missing == "later")


def _map_location(map_location: Any) -> Any:
    if isinstance(map_location, (str, dict)) or callable(map_location):
        return map_location
    if hasattr(map_location, "type") and hasattr(map_location, "index"):
        return str(map_location)  # A torch.device.
    raise TypeError(
        "map_location should be a device, a dict of devices or a callable, got "
        f"{map_location!r}"
    )


def _code(code: Any) -> bool:
    """Whether something stands in for what cannot be built."""
    if code not in ("run", "opaque"):
        raise ValueError(f'code should be "run" or "opaque", got {code!r}')
    return bool(code == "opaque")


def _renames(renames: Any) -> Any:
    return lazy.load("_environment.renames").renames_of(renames)


def _handle(option: str) -> Callable[[Any], object]:
    """What makes a policy, a key or a ring ready. security.py is not imported before:
    it needs an extension that is complete, and that needs this module."""

    def ready(given: Any) -> object:
        from waybill.security import _handle_of

        return _handle_of(option, given)

    return ready


def _limits(limits: Any) -> Any:
    _core.stream_length((None, None, limits))  # It raises what loads would.
    return limits


def _bound(bound: Any) -> int:
    if type(bound) is not int or bound < 1:
        raise ValueError("max_classes and max_class_bytes should be ints of at least 1")
    return bound


def _trace(trace: Any) -> Any:
    if not callable(trace):
        raise TypeError("trace should be callable, or None")
    return trace


def _set_max_classes(count: int | None) -> None:
    CLASSES.bound(count or MAX_CLASSES, None)


def _set_max_class_bytes(size: int | None) -> None:
    CLASSES.bound(None, size or MAX_CLASS_BYTES)


def _set_trace(trace: Any) -> None:
    CLASSES.trace = trace


def _use_caches(are_used: bool | None) -> None:
    _core.use_caches(are_used is None or are_used)


#: All options. Those of ``dumps`` and ``loads`` that are missing here say something of
#: one object (``buffer_callback``, ``buffers``), or nothing at all (what pickle takes).
TABLE: Mapping[str, Option] = {
    # Of dumps.
    "by_value": Option(_by_value, travels=False),
    "replace": Option(Replacements),
    "key": Option(_handle("key"), travels=False),
    "application": Option(_application),
    "compress": Option(_compress),
    "warn_above": Option(_warn_above),
    "source": Option(_source),
    "environment": Option(_environment),
    # Of loads.
    "reset_classes": Option(bool),
    "class_state": Option(_class_state),
    "missing": Option(_missing),
    "map_location": Option(_map_location),
    "renames": Option(_renames),
    "code": Option(_code),
    "policy": Option(_handle("policy")),
    "keys": Option(_handle("keys"), travels=False),
    "limits": Option(_limits),
    # Of the process.
    "max_classes": Option(_bound, apply=_set_max_classes),
    "max_class_bytes": Option(_bound, apply=_set_max_class_bytes),
    "caches": Option(bool, apply=_use_caches),
    "trace": Option(_trace, apply=_set_trace),
}


def configure(**options: Any) -> None:
    """Sets options for all calls of this process, and of those forked from it later.

    What is not given stays as it is; None is what holds at the start. An argument of a
    call goes before what is set here, unless it is None. Nothing that is set here, or
    given to a call, loosens what ``restrict`` demands.

    by_value, replace, key, application, compress, warn_above, source, environment
        As ``dumps`` takes them. The warning comes once for each line of the program.
        ``environment=False`` holds for ``save``, too.
    reset_classes, class_state, missing, map_location, renames, code, policy, keys,
    limits
        As ``loads`` takes them.
    max_classes, max_class_bytes
        How many received classes are kept alive, and what their payloads may come to in
        bytes, each at least 1. At the start 1 024 and 256 MiB.
    caches
        False empties what speeds up objects that come again, and keeps it empty.
        Results are the same. What it holds is bounded, at most 16 MiB of code that was
        received.
    trace
        Is called with a ClassChange for each change that a payload makes of a class
        that was here before, in the thread that loads it; what it raises, ``loads``
        raises after the change.

    Raises ValueError or TypeError for a value that an option does not take, and
    TypeError for what is no option; then nothing is set.
    """
    _demand_known(options)
    ready = {
        name: None if value is None else TABLE[name].ready(value)
        for name, value in options.items()
    }
    for name, value in ready.items():
        apply = TABLE[name].apply
        if apply is not None:
            apply(value)
            continue
        OPTIONS.pop(name, None)
        if value is not None and value is not False:
            OPTIONS[name] = value
    # What was loaded under other options, and is kept, is to be asked for again.
    CLASSES.generation += 1


def forwarded_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of these options that engines hand on to their workers. TypeError for what
    is no option."""
    _demand_known(options)
    return {name: value for name, value in options.items() if TABLE[name].travels}


def _demand_known(options: Mapping[str, Any]) -> None:
    unknown = options.keys() - TABLE.keys()
    if unknown:
        raise TypeError(
            f"there is no option {', '.join(sorted(unknown))}; there are "
            f"{', '.join(TABLE)}"
        )
