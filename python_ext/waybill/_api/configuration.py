"""Options that a process sets once for all of its calls. Tested by
tests/python/api/test_configure.py."""

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
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Literal

    from waybill._environment.renames import Renames

    #: "zstd", ("zstd", level), or False for none.
    Compress = str | tuple[str, int] | Literal[False]
    #: Whether the source of functions is sent beside their code.
    Source = Literal["auto"] | bool
    #: A device, as a str or a torch.device; or a map from devices of the sender.
    MapLocation = object | Mapping[str, object] | Callable[[str], object]
    #: Names that differ in this process, or ``waybill.environment.Renames``.
    RenameRules = Mapping[str, str] | Renames

#: The options that differ from their defaults, by name, as converted by
#: ``Option.convert``. The extension checks whether it is empty, and reads ``source`` if
#: that is the only option.
OPTIONS: dict[str, Any] = {}


def option_value(name: str, given: Any = None) -> Any:
    """The value of an option for a call: its argument, or if that is None, the value
    set for the process. Raises ValueError or TypeError for an invalid argument."""
    return OPTIONS.get(name) if given is None else TABLE[name].convert(given)


class Option(NamedTuple):
    """A row of the table."""

    #: Checks a value, and converts it to the form that calls use.
    convert: Callable[[Any], Any]
    #: Whether engines forward it. False for secrets, and values of this process.
    is_forwarded: bool = True
    #: Applies an option that is not an argument of calls; None restores the default.
    apply: Callable[[Any], object] | None = None


def _one_of(option: str, forms: Mapping[str, Any]) -> Callable[[Any], Any]:
    """The converter of an option with a few values, each with its form in calls."""

    def convert(given: Any) -> Any:
        if given not in tuple(forms):
            allowed = " or ".join(f'"{value}"' for value in forms)
            raise ValueError(f"{option} should be {allowed}, got {given!r}")
        return forms[given]

    return convert


def _convert_compress(compress: Any) -> int:
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


def _convert_source(source: Any) -> int:
    """The number of an enumerator of SourceUse in the extension."""
    for number, choice in enumerate((False, "auto", True)):
        if source is choice or (choice == "auto" and source == choice):
            return number
    raise ValueError(f'source should be "auto", True or False, got {source!r}')


def _convert_warn_above(size: Any) -> int:
    """Bytes; 0 for never, even if an engine has a limit of its own."""
    if type(size) is not int or size < 0:
        raise ValueError(f"warn_above should be an int of at least 0, got {size!r}")
    return size


def _convert_environment(is_sent: Any) -> Any:
    """A function that describes the environment; 0 for none, even from ``save``."""
    if type(is_sent) is not bool:
        raise TypeError(f"environment should be True or False, got {is_sent!r}")
    return lazy.load("_environment.distributions").environment_of if is_sent else 0


def _convert_map_location(map_location: Any) -> Any:
    if isinstance(map_location, (str, dict)) or callable(map_location):
        return map_location
    if hasattr(map_location, "type") and hasattr(map_location, "index"):
        return str(map_location)  # A torch.device.
    raise TypeError(
        "map_location should be a device, a dict of devices or a callable, got "
        f"{map_location!r}"
    )


def _converter_of(option: str) -> Callable[[Any], object]:
    """The converter of a policy, a key or a key ring."""

    def convert(given: Any) -> object:
        # Imported late: security.py needs the extension, which needs this module.
        from waybill.security import _handle_of

        return _handle_of(option, given)

    return convert


def _convert_limits(limits: Any) -> Any:
    _core.stream_length((None, None, limits))  # Raises the errors of loads.
    return limits


def _convert_bound(bound: Any) -> int:
    if type(bound) is not int or bound < 1:
        raise ValueError("max_classes and max_class_bytes should be ints of at least 1")
    return bound


def _convert_trace(trace: Any) -> Any:
    if not callable(trace):
        raise TypeError(f"trace should be callable, or None, got {trace!r}")
    return trace


def _set_trace(trace: Any) -> None:
    CLASSES.trace = trace


#: Options of ``dumps`` that the extension reads. For each of these, and of the next
#: table, python_ext/options.h has a row.
ENCODING: Mapping[str, Option] = {
    "by_value": Option(names_of, is_forwarded=False),
    "replace": Option(Replacements),
    "key": Option(_converter_of("key"), is_forwarded=False),
    "application": Option(lambda field: bytes(memoryview(field))),
    "compress": Option(_convert_compress),
    "source": Option(_convert_source),
    "environment": Option(_convert_environment),
}

#: Options of ``loads`` that the extension reads.
DECODING: Mapping[str, Option] = {
    "reset_classes": Option(bool),
    # The process whose state of a class takes precedence.
    "class_state": Option(
        _one_of("class_state", {"sender": "sender", "worker": "worker"})
    ),
    # Whether missing modules are replaced by stand-ins.
    "missing": Option(_one_of("missing", {"error": False, "later": True})),
    "map_location": Option(_convert_map_location),
    "renames": Option(
        lambda given: lazy.load("_environment.renames").renames_of(given)
    ),
}

#: All options. Arguments of ``dumps`` and ``loads`` for a single object
#: (``buffer_callback``, ``buffers``), or for compatibility with pickle, are left out.
TABLE: Mapping[str, Option] = {
    **ENCODING,
    "warn_above": Option(_convert_warn_above),
    **DECODING,
    # Whether objects that cannot be built are replaced by opaque ones.
    "code": Option(_one_of("code", {"run": False, "opaque": True})),
    "policy": Option(_converter_of("policy")),
    "keys": Option(_converter_of("keys"), is_forwarded=False),
    "limits": Option(_convert_limits),
    # Options of the process.
    "max_classes": Option(
        _convert_bound,
        apply=lambda count: CLASSES.set_bounds(count or MAX_CLASSES, None),
    ),
    "max_class_bytes": Option(
        _convert_bound,
        apply=lambda size: CLASSES.set_bounds(None, size or MAX_CLASS_BYTES),
    ),
    "caches": Option(bool, apply=lambda used: _core.use_caches(used is not False)),
    "trace": Option(_convert_trace, apply=_set_trace),
}


def option_values(
    table: Mapping[str, Option], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The options in ``table`` that are not None, for a call with these arguments; see
    ``option_value``. Raises TypeError for an argument that is not in the table."""
    options = {}
    # Not items(): CPython 3.11 crashes there if memory runs out.
    for name in OPTIONS:
        if name in table:
            options[name] = OPTIONS[name]
    for name in given:
        try:
            convert = table[name].convert
        except KeyError:
            raise _unknown_option(name, table) from None
        if given[name] is not None:
            options[name] = convert(given[name])
    return options


def configure(**options: Any) -> None:
    """Sets options for all calls of this process, and of those forked from it later.

    Options that are not given do not change; None restores the default. An argument of
    a call takes precedence, unless it is None. Neither can loosen ``restrict``.

    by_value, replace, key, application, compress, warn_above, source, environment
        As arguments of ``dumps``. The warning is issued once for each line of the
        program. ``environment=False`` applies to ``save``, too.
    reset_classes, class_state, missing, map_location, renames, code, policy, keys,
    limits
        As arguments of ``loads``.
    max_classes, max_class_bytes
        How many received classes are kept alive, and the maximal size of their
        payloads in bytes, each at least 1. By default 1 024 and 256 MiB.
    caches
        False clears the caches for repeated objects, and disables them. Results are
        the same. Caches are bounded; received code takes at most 16 MiB.
    trace
        Called with a ClassChange for each change that a payload makes to a class that
        existed before, in the thread that loads it. ``loads`` raises its exception
        after the change.

    Raises ValueError or TypeError for an invalid value, and TypeError for an unknown
    option; then nothing is set.
    """
    _require_options(options)
    converted = {
        name: None if value is None else TABLE[name].convert(value)
        for name, value in options.items()
    }
    for name, value in converted.items():
        apply = TABLE[name].apply
        if apply is not None:
            apply(value)
            continue
        OPTIONS.pop(name, None)
        if value is not None and value is not False:
            OPTIONS[name] = value
    # Invalidates cached results of loads under other options.
    CLASSES.generation += 1


def forwarded_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that engines forward to workers. TypeError for an unknown one."""
    _require_options(options)
    return {name: value for name, value in options.items() if TABLE[name].is_forwarded}


def _require_options(options: Iterable[str]) -> None:
    for name in options:
        if name not in TABLE:
            raise _unknown_option(name, TABLE)


def _unknown_option(name: str, table: Iterable[str]) -> TypeError:
    return TypeError(f"there is no option {name}; there are {', '.join(table)}")
