"""Limits the nesting of a text, without a parser.

Parsers and compilers of CPython recurse on the C stack, as deep as operators, brackets
and blocks nest. Measured on 3.11 to 3.15 in threads with 512 KiB of stack: 3 000
nested operators crash three versions, 2 000 none. More than 20 blocks around a
comprehension crash three as well, where the others raise an error; only blocks and
comprehensions of one function count. Time and memory grow with the product of nested
scopes and names.

Most texts are too short to nest too deeply; the others are split into tokens. Tested by
tests/python/source/test_source_limits.py.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: Nested operators with brackets; nested brackets; nested functions with blocks;
#: loops, comprehensions and the like around a comprehension.
MAX_DEPTH, MAX_BRACKETS, MAX_INDENTS, MAX_BLOCKS = 2000, 100, 50, 20
#: A text of at least this length may nest fewer scopes.
LONG_TEXT, MAX_INDENTS_OF_LONG = 1 << 17, 20
#: Characters of a line: 3.12 takes time for each token that grows with the line.
MAX_LINE = 1 << 14
#: Decimal digits of a number: the time to read it grows with their square.
MAX_DIGITS = 4000

_LAMBDA = "lambda"
#: The depth of a lambda, in operators.
_DEPTH_OF_LAMBDA, _DEPTH_OF_LAMBDA_IN_LONG = 40, 200

_NESTING_KEYWORDS = frozenset(
    {"and", "as", "async", "await", "else", "for", "from", "if", "in", "is", "not"}
    | {"or", "yield", "match", "case"}
)
#: Blocks that the compiler has open in the body of each statement.
_BLOCKS = {
    "for": 1,
    "while": 1,
    "try": 2,
    "except": 3,
    "finally": 2,
    "else": 1,
    "with": 1,
}
_NESTING_TOKEN = re.compile(
    r"[-+~*/%@|&^<>=!.(\[{]|\b(?:and|as|async|await|elif|else|for|from|if|in|is|not|or"
    r"|yield|lambda)\b"
)
_FORMATTED = re.compile(r"[ftFT][rR]?['\"]|[rR][ftFT]['\"]")
#: Also matches strings and comments, whose content does not count.
_BRACKETS_AND_FOR = re.compile(
    r"#[^\n]*"
    r"|'''(?:\\.|[^\\])*?'''"
    r'|"""(?:\\.|[^\\])*?"""'
    r"|'(?:\\.|[^'\\\n])*'"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|[()\[\]{}]|\bfor\b",
    re.DOTALL,
)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_FACTORS = frozenset({"*", "**", "/", "//", "%", "@"})
_DIGITS = re.compile(rf"[0-9][0-9_]{{{MAX_DIGITS},}}")


def nesting_problem(text: str, is_lambda: bool) -> str:
    """Why a text must not be compiled; "" if it may be."""
    length = len(text) + (_DEPTH_OF_LAMBDA * text.count(_LAMBDA))
    if length > MAX_DEPTH:
        if len(text) > MAX_DIGITS and _DIGITS.search(text):
            return f"it has a number of more than {MAX_DIGITS} digits"
        length = _count_nesting_tokens(text)
    if length <= MAX_DEPTH and not _can_have_many_blocks(text):
        return ""
    if len(max(text.split("\n"), key=len)) > MAX_LINE:
        return f"a line has more than {MAX_LINE} characters, and may nest too deeply"
    try:
        return _NestingReader(text, is_lambda).reason
    except (SyntaxError, ValueError) as error:
        # The compiler raises the same error, before it recurses.
        if length <= MAX_DEPTH:
            return ""
        return f"it cannot be read ({error}), and may nest too deeply"


def _count_nesting_tokens(text: str) -> int:
    """An upper bound of the depth: as if each token were nested in the one before."""
    return len(_NESTING_TOKEN.findall(text)) + _DEPTH_OF_LAMBDA * text.count(_LAMBDA)


def _can_have_many_blocks(text: str) -> bool:
    """Whether the text could have more than MAX_BLOCKS nested blocks."""
    if "for" not in text:
        return False
    count = sum(text.count(token) * weight for token, weight in _BLOCKS.items())
    if "with" in text:
        count += text.count(",")
    return count > MAX_BLOCKS and _can_have_comprehension(text)


def _can_have_comprehension(text: str) -> bool:
    """Whether ``for`` may be in brackets; True for any text with f-strings."""
    if _FORMATTED.search(text):
        return True
    depth = 0
    for token in _BRACKETS_AND_FOR.findall(text):
        if token == "for" and depth > 0:
            return True
        if token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            depth -= 1
    return False


class _Level:
    """The state of one open bracket, or of the statement."""

    __slots__ = (
        "awaits_colon",
        "awaits_in",
        "bracket_depth",
        "clauses",
        "factors",
        "inner_clauses",
        "max_depth",
        "max_factors",
        "operators",
    )

    def __init__(self) -> None:
        #: Operators since the last comma, and the deepest bracket since then.
        self.operators = self.bracket_depth = 0
        #: Factors of the current summand, and the maximum of all summands.
        self.factors = self.max_factors = 0
        #: The greatest depth before the last comma.
        self.max_depth = 0
        #: ``for`` clauses, and the maximal number in inner brackets.
        self.clauses = self.inner_clauses = 0
        #: Commas separate parameters until a colon, and targets until ``in``.
        self.awaits_colon = 0
        self.awaits_in = False

    def end_part(self) -> None:
        self.end_summand()
        self.max_depth = max(
            self.max_depth, self.operators + self.max_factors + self.bracket_depth
        )
        self.operators = self.max_factors = self.bracket_depth = 0

    def end_summand(self) -> None:
        self.max_factors = max(self.max_factors, self.factors)
        self.factors = 0


class _NestingReader:
    """Reads the tokens of a text; ``reason`` says why it is refused."""

    def __init__(self, text: str, is_lambda: bool) -> None:
        is_long = len(text) > LONG_TEXT
        self.lambda_depth = _DEPTH_OF_LAMBDA_IN_LONG if is_long else _DEPTH_OF_LAMBDA
        self.max_indents = MAX_INDENTS_OF_LONG if is_long else MAX_INDENTS
        self.reason = ""
        self.levels = [_Level()]
        #: For each indent: consecutive ``elif``, and open blocks of the function.
        self.chains = [0]
        self.blocks = [0]
        #: Blocks, items of ``with`` and first token of the current statement.
        self.opened_blocks = 0
        self.with_items = 0
        self.first_token = ""
        for kind, token in _tokens(f"({text}\n)" if is_lambda else text):
            self._read(kind, token)
            if self.reason:
                return

    def _read(self, kind: str, token: str) -> None:
        if kind == "INDENT":
            self._indent()
        elif kind == "DEDENT":
            if len(self.chains) > 1:
                del self.chains[-1], self.blocks[-1]
        elif kind == "NEWLINE":
            self._end_statement()
        elif kind == "NAME":
            self._read_name(token)
        elif kind == "FSTRING":
            # Before 3.12 an f-string is one token: count all in it.
            self.levels[-1].operators += _count_nesting_tokens(token)
            self.levels[-1].inner_clauses += token.count("for")
        elif kind == "OP":
            self._read_operator(token)

    def _indent(self) -> None:
        self.chains.append(0)
        starts_anew = self.first_token in ("def", "class")
        self.blocks.append(0 if starts_anew else self.blocks[-1] + self.opened_blocks)
        if len(self.chains) > self.max_indents:
            self.reason = f"it has more than {self.max_indents} indents in one another"

    def _read_name(self, token: str) -> None:
        if not self.first_token or self.first_token == "async":
            self._begin_statement(token)
        level = self.levels[-1]
        if token == _LAMBDA:
            level.operators += self.lambda_depth
            level.awaits_colon += 1
        elif token in _NESTING_KEYWORDS:
            level.operators += 1
            if token == "for" and len(self.levels) > 1:
                level.clauses += 1
                level.awaits_in = True
            elif token == "in":
                level.awaits_in = False

    def _begin_statement(self, token: str) -> None:
        self.first_token = token
        self.with_items = 1
        if token == "elif":
            self.chains[-1] += 1
        elif token != "else":
            self.chains[-1] = 0
        self.opened_blocks = _BLOCKS.get(token, 0)

    def _read_operator(self, token: str) -> None:
        self.first_token = self.first_token or token
        level = self.levels[-1]
        if token in "([{":
            level.operators += 1
            self.levels.append(_Level())
            if len(self.levels) > MAX_BRACKETS:
                self.reason = f"it has more than {MAX_BRACKETS} brackets in one another"
        elif token in ")]}":
            if len(self.levels) > 1:
                self._close()
        elif token == ",":
            self.with_items += 1
            if not level.awaits_colon and not level.awaits_in:
                level.end_part()
        elif token == ":" and level.awaits_colon:
            level.awaits_colon -= 1
        elif token == ";":
            level.end_part()
        elif token in _FACTORS:
            level.factors += 1
        elif token != ":":
            level.operators += 1
            if token in "+-":
                level.end_summand()

    def _close(self) -> None:
        closed = self.levels.pop()
        closed.end_part()
        level = self.levels[-1]
        level.bracket_depth = max(level.bracket_depth, closed.max_depth + 1)
        around = closed.inner_clauses + closed.clauses
        level.inner_clauses = max(level.inner_clauses, around)
        if closed.clauses:
            opened = (
                self.with_items if self.first_token == "with" else self.opened_blocks
            )
            if around + self.blocks[-1] + opened > MAX_BLOCKS:
                self.reason = f"it has more than {MAX_BLOCKS} blocks in one another"

    def _end_statement(self) -> None:
        while len(self.levels) > 1:  # An unclosed bracket is a syntax error.
            self._close()
        level = self.levels[0]
        level.end_part()
        if level.max_depth + sum(self.chains) + len(self.chains) > MAX_DEPTH:
            self.reason = f"it has more than {MAX_DEPTH} operators in one another"
        if self.first_token == "with":
            self.opened_blocks = self.with_items
        self.levels = [_Level()]
        self.first_token = ""


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of each token, without comments, blank lines and strings. Raises
    ValueError or SyntaxError for text that cannot be split into tokens."""
    import tokenize

    try:
        yield from _significant_tokens(tokenize, text)
    except tokenize.TokenError as error:
        raise ValueError(str(error)) from error


def _significant_tokens(tokenize: Any, text: str) -> Iterator[tuple[str, str]]:
    lines = iter([f"{line}\n" for line in text.split("\n")])
    kinds = tokenize.tok_name
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        kind = kinds[token[0]]
        if kind == "STRING":
            prefix = token[1][: token[1].find(token[1][-1])].lower()
            if "f" in prefix or "t" in prefix:
                yield "FSTRING", token[1]
        elif kind in ("ERRORTOKEN", "ENDMARKER"):
            if kind == "ENDMARKER":
                yield "NEWLINE", ""
        elif kind in ("OP", "NAME", "INDENT", "DEDENT", "NEWLINE"):
            yield kind, token[1]
