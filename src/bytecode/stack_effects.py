"""The stack effect of each CPython instruction, by name. operands.py has the operands.

One row per opcode name: the operation the walker sees, pops, pushes. A count is a
number, or "base+term" with one of the terms of `TERMS`. A pop is a
value that really leaves the stack: COPY pops nothing, LIST_APPEND pops one.

`VERSIONS` holds what differs between versions. `make_opcode_table.py` prints the
C++ rows from here; tests/bytecode/test_stack_effects.py compares the effects with
dis.stack_effect.
"""

# Term: (enumerator of bytecode::Term, its value for an oparg).
TERMS = {
    "arg": ("kArgument", lambda arg: arg),
    "2arg": ("kTwiceArgument", lambda arg: 2 * arg),
    "bit": ("kLowBit", lambda arg: arg & 1),
    "unpack": ("kUnpackRest", lambda arg: (arg & 0xFF) + (arg >> 8)),
    "parts": ("kFunctionParts", lambda arg: bin(arg & 15).count("1")),
    "spec": ("kFormatSpec", lambda arg: int(arg & 4 == 4)),
    "step": ("kSliceStep", lambda arg: int(arg == 3)),
}

# Name: (operation, pops, pushes).
EFFECTS = {
    "CACHE": ("kCache", 0, 0),
    "EXTENDED_ARG": ("kExtendedArg", 0, 0),
    # Operands are consumed; results are new.
    "NOP": ("kConsume", 0, 0),
    "NOT_TAKEN": ("kConsume", 0, 0),
    "RESUME": ("kConsume", 0, 0),
    "COPY_FREE_VARS": ("kConsume", 0, 0),
    "SETUP_ANNOTATIONS": ("kConsume", 0, 0),
    "PRECALL": ("kConsume", 0, 0),
    "POP_TOP": ("kConsume", 1, 0),
    "POP_ITER": ("kConsume", 1, 0),
    "POP_EXCEPT": ("kConsume", 1, 0),
    "END_FOR": ("kConsume", 1, 0),
    "END_SEND": ("kConsume", 2, 1),
    "END_ASYNC_FOR": ("kConsume", 2, 0),
    "CLEANUP_THROW": ("kConsume", 3, 2),
    "PUSH_EXC_INFO": ("kConsume", 1, 2),
    "CHECK_EXC_MATCH": ("kConsume", 1, 1),
    "CHECK_EG_MATCH": ("kConsume", 2, 2),
    "PREP_RERAISE_STAR": ("kConsume", 2, 1),
    "WITH_EXCEPT_START": ("kConsume", 0, 1),
    "UNARY_POSITIVE": ("kConsume", 1, 1),
    "UNARY_NEGATIVE": ("kConsume", 1, 1),
    "UNARY_NOT": ("kConsume", 1, 1),
    "UNARY_INVERT": ("kConsume", 1, 1),
    "TO_BOOL": ("kConsume", 1, 1),
    "COMPARE_OP": ("kConsume", 2, 1),
    "IS_OP": ("kConsume", 2, 1),
    "CONTAINS_OP": ("kConsume", 2, 1),
    "FORMAT_VALUE": ("kConsume", "1+spec", 1),
    "FORMAT_SIMPLE": ("kConsume", 1, 1),
    "FORMAT_WITH_SPEC": ("kConsume", 2, 1),
    "CONVERT_VALUE": ("kConsume", 1, 1),
    "BUILD_STRING": ("kConsume", "0+arg", 1),
    "BUILD_SLICE": ("kBuildSlice", "2+step", 1),
    "GET_LEN": ("kConsume", 0, 1),
    "MATCH_MAPPING": ("kConsume", 0, 1),
    "MATCH_SEQUENCE": ("kConsume", 0, 1),
    "DELETE_SUBSCR": ("kConsume", 2, 0),
    "PRINT_EXPR": ("kConsume", 1, 0),
    "IMPORT_STAR": ("kConsume", 1, 0),
    "LOAD_ASSERTION_ERROR": ("kConsume", 0, 1),
    "LOAD_LOCALS": ("kConsume", 0, 1),
    "LOAD_CLOSURE": ("kConsume", 0, 1),
    "RETURN_GENERATOR": ("kConsume", 0, 1),
    "GET_ANEXT": ("kConsume", 0, 1),
    # Operands escape: into a container, an iterator, the caller.
    "GET_AITER": ("kEscape", 1, 1),
    "GET_AWAITABLE": ("kEscape", 1, 1),
    "GET_YIELD_FROM_ITER": ("kEscape", 1, 1),
    "YIELD_VALUE": ("kEscape", 1, 1),
    "ASYNC_GEN_WRAP": ("kEscape", 1, 1),
    "BEFORE_WITH": ("kEscape", 1, 2),
    "BEFORE_ASYNC_WITH": ("kEscape", 1, 2),
    "LOAD_SPECIAL": ("kEscape", 1, 2),
    "BUILD_TEMPLATE": ("kEscape", 2, 1),
    "BUILD_INTERPOLATION": ("kEscape", "2+bit", 1),
    "CALL_INTRINSIC_1": ("kIntrinsic", 1, 1),
    "CALL_INTRINSIC_2": ("kEscape", 2, 1),
    # The deepest operand escapes, into the one above it.
    "STORE_ATTR": ("kStoreAttribute", 2, 0),
    "STORE_SUBSCR": ("kEscapeDeepest", 3, 0),
    "STORE_SLICE": ("kEscapeDeepest", 4, 0),
    "MATCH_CLASS": ("kEscapeDeepest", 3, 1),
    "MATCH_KEYS": ("kMatchKeys", 0, 1),
    # The container below keeps its place.
    "LIST_APPEND": ("kExtendContainer", 1, 0),
    "LIST_EXTEND": ("kExtendContainer", 1, 0),
    "SET_ADD": ("kExtendContainer", 1, 0),
    "SET_UPDATE": ("kExtendContainer", 1, 0),
    "MAP_ADD": ("kExtendContainer", 2, 0),
    "DICT_UPDATE": ("kExtendContainer", 1, 0),
    "DICT_MERGE": ("kExtendContainer", 1, 0),
    "LIST_TO_TUPLE": ("kConsume", 0, 0),
    # Values the walker follows.
    "PUSH_NULL": ("kPushNull", 0, 1),
    "COPY": ("kCopy", 0, 1),
    "SWAP": ("kSwap", 0, 0),
    "LOAD_CONST": ("kLoadConstant", 0, 1),
    "LOAD_SMALL_INT": ("kLoadInteger", 0, 1),
    "LOAD_COMMON_CONSTANT": ("kLoadCommonConstant", 0, 1),
    "LOAD_GLOBAL": ("kLoadGlobal", 0, "1+bit"),
    "LOAD_NAME": ("kLoadName", 0, 1),
    "LOAD_FROM_DICT_OR_GLOBALS": ("kLoadDictOrGlobal", 1, 1),
    "STORE_NAME": ("kStoreName", 1, 0),
    "DELETE_NAME": ("kDeleteName", 0, 0),
    "STORE_GLOBAL": ("kStoreGlobal", 1, 0),
    "DELETE_GLOBAL": ("kDeleteGlobal", 0, 0),
    "LOAD_FAST": ("kLoadLocal", 0, 1),
    "LOAD_FAST_BORROW": ("kLoadLocal", 0, 1),
    "LOAD_FAST_CHECK": ("kLoadLocal", 0, 1),
    "LOAD_FAST_AND_CLEAR": ("kLoadAndClearLocal", 0, 1),
    "STORE_FAST": ("kStoreLocal", 1, 0),
    "DELETE_FAST": ("kDeleteLocal", 0, 0),
    "LOAD_FAST_LOAD_FAST": ("kLoadLocalLoadLocal", 0, 2),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("kLoadLocalLoadLocal", 0, 2),
    "STORE_FAST_LOAD_FAST": ("kStoreLocalLoadLocal", 1, 1),
    "STORE_FAST_STORE_FAST": ("kStoreLocalStoreLocal", 2, 0),
    "MAKE_CELL": ("kMakeCell", 0, 0),
    "LOAD_DEREF": ("kLoadCell", 0, 1),
    "LOAD_CLASSDEREF": ("kLoadCell", 0, 1),
    "LOAD_FROM_DICT_OR_DEREF": ("kLoadDictOrCell", 1, 1),
    "STORE_DEREF": ("kStoreCell", 1, 0),
    "DELETE_DEREF": ("kDeleteCell", 0, 0),
    "LOAD_ATTR": ("kLoadAttribute", 1, "1+bit"),
    "LOAD_METHOD": ("kLoadMethod", 1, 2),
    "DELETE_ATTR": ("kDeleteAttribute", 1, 0),
    "LOAD_SUPER_ATTR": ("kLoadSuperAttribute", 3, "1+bit"),
    "IMPORT_NAME": ("kImportName", 2, 1),
    "IMPORT_FROM": ("kImportFrom", 0, 1),
    "BUILD_TUPLE": ("kBuildTuple", "0+arg", 1),
    "BUILD_LIST": ("kBuildCollection", "0+arg", 1),
    "BUILD_SET": ("kBuildCollection", "0+arg", 1),
    "BUILD_MAP": ("kBuildMap", "0+2arg", 1),
    "BUILD_CONST_KEY_MAP": ("kBuildConstantKeyMap", "1+arg", 1),
    "UNPACK_SEQUENCE": ("kUnpack", 1, "0+arg"),
    "UNPACK_EX": ("kUnpackRest", 1, "1+unpack"),
    "GET_ITER": ("kGetIterator", 1, 1),
    "FOR_ITER": ("kForIterator", 0, 1),
    "BINARY_OP": ("kBinaryOperation", 2, 1),  # From 3.14 on a[b] as well.
    "BINARY_SUBSCR": ("kSubscript", 2, 1),
    "BINARY_SLICE": ("kSlice", 3, 1),
    "MAKE_FUNCTION": ("kMakeFunction", 1, 1),
    "SET_FUNCTION_ATTRIBUTE": ("kSetFunctionAttribute", 2, 1),
    "LOAD_BUILD_CLASS": ("kLoadBuildClass", 0, 1),
    "KW_NAMES": ("kKeywordNames", 0, 0),
    "CALL": ("kCall", "2+arg", 1),
    "CALL_KW": ("kCallKeywords", "3+arg", 1),
    "CALL_FUNCTION_EX": ("kCallUnpacked", "3+bit", 1),
    # Jumps and ends.
    "JUMP_FORWARD": ("kJump", 0, 0),
    "JUMP_BACKWARD": ("kJump", 0, 0),
    "JUMP_BACKWARD_NO_INTERRUPT": ("kJump", 0, 0),
    "JUMP_IF_FALSE_OR_POP": ("kBranch", 1, 0),
    "JUMP_IF_TRUE_OR_POP": ("kBranch", 1, 0),
    "SEND": ("kSend", 1, 1),
    "RETURN_VALUE": ("kReturn", 1, 0),
    "RETURN_CONST": ("kReturnConstant", 0, 0),
    "RAISE_VARARGS": ("kRaise", "0+arg", 0),
    "RERAISE": ("kReraise", 1, 0),
}
for _test in ("FALSE", "TRUE", "NONE", "NOT_NONE"):
    for _direction in ("", "FORWARD_", "BACKWARD_"):
        EFFECTS[f"POP_JUMP_{_direction}IF_{_test}"] = ("kBranch", 1, 0)

# (name, first version, last version): the effect in these versions.
VERSIONS = {
    ("END_FOR", 312, 312): ("kConsume", 2, 0),
    ("MAKE_FUNCTION", 311, 312): ("kMakeFunction", "1+parts", 1),
    ("BUILD_SLICE", 314, 999): ("kBuildSlice", "0+arg", 1),
    ("CALL_FUNCTION_EX", 314, 999): ("kCallUnpacked", 4, 1),
    ("RETURN_VALUE", 314, 999): ("kReturn", 1, 1),
    ("LOAD_ATTR", 311, 311): ("kLoadAttribute", 1, 1),
    ("BINARY_OP", 314, 999): ("kBinaryOperationOrSubscript", 2, 1),
    # 3.11 and 3.12 push NULL below the callable, later ones above it.
    ("LOAD_GLOBAL", 313, 999): ("kLoadGlobalThenNull", 0, "1+bit"),
    # 3.15 keeps an index, or NULL, beside every iterator.
    ("GET_ITER", 315, 999): ("kGetIterator", 1, 2),
    ("POP_ITER", 315, 999): ("kConsume", 2, 0),
    ("END_SEND", 315, 999): ("kConsume", 3, 1),
    ("CLEANUP_THROW", 315, 999): ("kConsume", 4, 3),
    ("FOR_ITER", 315, 999): ("kForIndexedIterator", 0, 1),
}

# The number of values that a branch pushes when it jumps, if it differs from falling
# through.
JUMP_PUSHES = {
    ("FOR_ITER", 311, 311): -1,  # The iterator is popped, too.
    ("SEND", 311, 311): 0,
    ("JUMP_IF_FALSE_OR_POP", 311, 311): 1,
    ("JUMP_IF_TRUE_OR_POP", 311, 311): 1,
}

# dis.stack_effect differs here. The first instruction of a generator returns the
# generator to the caller; when the body resumes, POP_TOP pops a None.
KNOWN_DIFFERENCES = {("RETURN_GENERATOR", 311, 312): 0}

# How many low bits of oparg are flags, below the index.
FLAG_BITS = {
    ("COMPARE_OP", 312, 312): 4,
    ("COMPARE_OP", 313, 999): 5,
    ("LOAD_GLOBAL", 311, 999): 1,
    ("LOAD_ATTR", 312, 999): 1,
    ("LOAD_SUPER_ATTR", 312, 999): 2,
    ("IMPORT_NAME", 315, 999): 2,
}


def at(table, name, version, default=None):
    """The row of `table` for `name` that holds for `version`."""
    for (row_name, first, last), row in table.items():
        if row_name == name and first <= version <= last:
            return row
    return default


def effect(name, version):
    """(operation, pops, pushes) of an opcode name, or None if it is unknown."""
    return at(VERSIONS, name, version, EFFECTS.get(name))


def count(spelled, arg):
    """The number that a count such as "2+arg" means for an oparg."""
    if isinstance(spelled, int):
        return spelled
    base, term = spelled.split("+")
    return int(base) + TERMS[term][1](arg)


def net_effect(name, version, arg, jump=False):
    """Stack effect of an instruction."""
    _, pops, pushes = effect(name, version)
    if jump:
        pushes = at(JUMP_PUSHES, name, version, pushes)
    return count(pushes, arg) - count(pops, arg)
