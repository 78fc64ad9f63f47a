"""Attribute chains of a code object, by dis, slowly and plainly.

Independent of src/bytecode: it knows straight cases only, but those for sure. A chain
is (kind, root, [attributes]), kind "global" or "variable" (a cell or free variable);
every chain here must be found by summarize(), too. What counts:

    xml.dom.Node                  loads that stand next to each other
    m = xml; m.dom                locals that are assigned once, from a plain load,
                                  before anything can jump
"""

import dis

GLOBAL_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
VARIABLE_LOADS = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
ATTRIBUTE_LOADS = {"LOAD_ATTR", "LOAD_METHOD"}
LOCAL_LOADS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"}
# Two instructions in one, as CPython names them.
PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
SILENT = {"CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL"}


def steps(code):
    """(opname, name, is a jump target) of each instruction; pairs split in two."""
    targets = {i.offset for i in dis.get_instructions(code) if i.is_jump_target}
    is_target = False
    for instruction in dis.get_instructions(code):
        is_target = is_target or instruction.offset in targets
        name = instruction.opname
        if name in SILENT:
            continue
        if name in PAIRS:
            both = (instruction.arg >> 4, instruction.arg & 15)
            for single, local in zip(PAIRS[name], both):
                yield single, code.co_varnames[local], is_target
                is_target = False
            continue
        yield name, instruction.argval, is_target
        is_target = False


def stores_by_local(code):
    """How often each local is stored to or deleted."""
    counts = {}
    for name, argument, _ in steps(code):
        if name in {"STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"}:
            counts[argument] = counts.get(argument, 0) + 1
    for parameter in code.co_varnames[: parameter_count(code)]:
        counts[parameter] = counts.get(parameter, 0) + 1
    return counts


def parameter_count(code):
    count = code.co_argcount + code.co_kwonlyargcount
    return count + bool(code.co_flags & 4) + bool(code.co_flags & 8)


def chains(code):
    """The chains of one code object, not of those nested in it; without repetitions."""
    once = {local for local, count in stores_by_local(code).items() if count == 1}
    stored_names = {arg for name, arg, _ in steps(code) if name == "STORE_NAME"}
    aliases = {}
    found = []
    chain = None
    straight = True
    for name, argument, is_target in steps(code):
        # Behind a jump a local may have been skipped, and a value be one of two.
        straight = straight and not is_target
        if is_target:
            chain = None
        if name in ATTRIBUTE_LOADS and chain:
            chain = (chain[0], chain[1], [*chain[2], argument])
            if chain not in found:
                found.append(chain)
            continue
        if name == "STORE_FAST" and chain and straight and argument in once:
            if argument not in code.co_cellvars:
                aliases[argument] = chain
        chain = None
        if name in GLOBAL_LOADS and argument not in stored_names:
            chain = ("global", argument, [])
        elif name in VARIABLE_LOADS:
            chain = ("variable", argument, [])
        elif name in LOCAL_LOADS:
            chain = aliases.get(argument)
    return found
