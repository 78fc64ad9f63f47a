"""The valid operands of each CPython instruction, by name.

`make_opcode_table.py` prints the C++ rows from here, unless they disagree with the
lists of names, constants and locals in the interpreter's own module `opcode`.
"""

import opcode

# Maps enumerators of bytecode::Operand to the instructions that take them. All other
# instructions take any operand.
OPERANDS = {
    "kConstant": "LOAD_CONST RETURN_CONST KW_NAMES",
    "kName": "LOAD_NAME STORE_NAME DELETE_NAME LOAD_GLOBAL STORE_GLOBAL DELETE_GLOBAL "
    "LOAD_ATTR STORE_ATTR DELETE_ATTR LOAD_METHOD LOAD_SUPER_ATTR "
    "LOAD_FROM_DICT_OR_GLOBALS IMPORT_NAME IMPORT_FROM",
    "kLocal": "LOAD_FAST LOAD_FAST_BORROW LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR "
    "STORE_FAST DELETE_FAST",
    "kTwoLocals": "LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW_LOAD_FAST_BORROW "
    "STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST",
    "kCell": "MAKE_CELL LOAD_CLOSURE LOAD_DEREF LOAD_CLASSDEREF "
    "LOAD_FROM_DICT_OR_DEREF STORE_DEREF DELETE_DEREF",
    "kFreeCount": "COPY_FREE_VARS",
    "kByte": "LOAD_SMALL_INT",
    "kCallFollows": "PRECALL",
}

# Maps lists of `opcode` to the enumerators whose instructions they contain.
LISTED = {
    "hasconst": {"kConstant"},
    "hasname": {"kName"},
    "haslocal": {"kLocal", "kTwoLocals"},
    "hasfree": {"kCell"},
}


def indices_of(list_name):
    """The valid indices of one of opcode's lists."""
    return range(len(getattr(opcode, list_name, ())))


# Maps instructions whose argument selects one of a few things to the valid arguments.
CHOICES = {
    "BINARY_OP": indices_of("_nb_ops"),
    "COMPARE_OP": range(len(opcode.cmp_op)),
    "CALL_INTRINSIC_1": indices_of("_intrinsic_1_descs"),
    "CALL_INTRINSIC_2": indices_of("_intrinsic_2_descs"),
    "LOAD_COMMON_CONSTANT": indices_of("_common_constants"),
    "LOAD_SPECIAL": indices_of("_special_method_names"),
    "CONVERT_VALUE": (1, 2, 3),
    "SET_FUNCTION_ATTRIBUTE": (1, 2, 4, 8, 16),
}

# After an exhausted iterator, control continues this many units past the jump's
# target: it skips the instructions that would pop the iterator.
JUMP_SKIPS = {311: 0, 312: 1, 313: 2, 314: 1, 315: 1}


def operand(name):
    """(enumerator, bits of the choices) for an opcode name."""
    if name in CHOICES:
        return "kChoice", sum(1 << choice for choice in CHOICES[name])
    for kind, names in OPERANDS.items():
        if name in names.split():
            return kind, 0
    return "kAny", 0


def caches(name, number):
    """Units of inline cache after the instruction."""
    entries = opcode._inline_cache_entries
    return entries[number] if isinstance(entries, list) else entries.get(name, 0)


def jump_skips(name, version):
    return JUMP_SKIPS[version] if name == "FOR_ITER" else 0


def disagreements(opcodes):
    """Instructions that `opcode` lists differently, as sentences."""
    found = []
    for name, number in opcodes:
        kind, bits = operand(name)
        if kind == "kChoice" and not 0 < bits < 1 << 64:
            found.append(f"{name} has no known choices")
        lists = {each for each in LISTED if number in getattr(opcode, each)}
        # Some versions list an instruction on cells in `haslocal` only.
        expected = {each for each, kinds in LISTED.items() if kind in kinds}
        if lists != expected and not (kind == "kCell" and lists == {"haslocal"}):
            found.append(f"{name} is {kind} here, and in {sorted(lists)} of opcode")
    return found
