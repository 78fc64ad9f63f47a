"""How deep a text nests, told without a parser.

Parsers and compilers of CPython recurse on the C stack, as deep as operators, brackets
and blocks nest. Measured on 3.11 to 3.15 in threads with 512 KiB of stack: 3 000
operators one in the other crash three versions, 2 000 none. More than 20 blocks around
a comprehension crash three as well, where others say that these are too many; only
blocks and comprehensions of one function count. Time and memory grow with the product
of scopes in each other and names.

Most texts are so short that they cannot nest too deeply; the others are cut into
tokens.

Tested by tests/python/source/test_source_limits.py.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: Operators and brackets in one another; functions and blocks in one another; loops,
#: comprehensions and the like around a comprehension.
MAX_DEPTH, MAX_BRACKETS, MAX_INDENTS, MAX_BLOCKS = 2000, 100, 50, 20
#: From this length on, and how many scopes are in one another then.
LONG, MAX_INDENTS_OF_LONG = 1 << 17, 20
#: Of a line in a text that has to be cut into tokens: 3.12 takes time for each of them
#: that grows with the line.
MAX_LINE = 1 << 14
#: Decimal digits in one number: to read them takes time that grows with their square.
MAX_DIGITS = 4000

_LAMBDA = "lambda"
#: How much deeper a lambda is than an operator.
_DEPTH_OF_LAMBDA, _DEPTH_OF_LAMBDA_IN_LONG = 40, 200

_DEEPER_WORDS = frozenset(
    {"and", "as", "async", "await", "else", "for", "from", "if", "in", "is", "not"}
    | {"or", "yield", "match", "case"}
)
#: Blocks that the compiler keeps open in the suites of statements.
_BLOCKS = {
    "for": 1,
    "while": 1,
    "try": 2,
    "except": 3,
    "finally": 2,
    "else": 1,
    "with": 1,
}
_DEEPER = re.compile(
    r"[-+~*/%@|&^<>=!.(\[{]|\b(?:and|as|async|await|elif|else|for|from|if|in|is|not|or"
    r"|yield|lambda)\b"
)
_FORMATTED = re.compile(r"[ftFT][rR]?['\"]|[rR][ftFT]['\"]")
#: With text and comments, in which neither means anything.
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


def nests_too_deeply(text: str, is_lambda: bool) -> str:
    """Why a text is not compiled; "" if nothing is wrong with it."""
    length = len(text) + (_DEPTH_OF_LAMBDA * text.count(_LAMBDA))
    if length > MAX_DEPTH:
        if len(text) > MAX_DIGITS and _DIGITS.search(text):
            return f"it has a number of more than {MAX_DIGITS} digits"
        length = _most_that_it_can_be(text)
    if length <= MAX_DEPTH and not _may_have_many_blocks(text):
        return ""
    if len(max(text.split("\n"), key=len)) > MAX_LINE:
        return f"a line has more than {MAX_LINE} characters, and may nest too deeply"
    try:
        return _Reader(text, is_lambda).reason
    except (SyntaxError, ValueError) as error:
        # The compiler says the same of it, before it recurses into anything.
        if length <= MAX_DEPTH:
            return ""
        return f"it cannot be read ({error}), and may nest too deeply"


def _most_that_it_can_be(text: str) -> int:
    return len(_DEEPER.findall(text)) + _DEPTH_OF_LAMBDA * text.count(_LAMBDA)


def _may_have_many_blocks(text: str) -> bool:
    """Whether there may be more blocks than MAX_BLOCKS, were all in one another."""
    if "for" not in text:
        return False
    count = sum(text.count(word) * weight for word, weight in _BLOCKS.items())
    if "with" in text:
        count += text.count(",")
    return count > MAX_BLOCKS and _may_have_comprehension(text)


def _may_have_comprehension(text: str) -> bool:
    """Whether ``for`` stands in brackets; of formatted strings it is not told."""
    if _FORMATTED.search(text):
        return True
    depth = 0
    for word in _BRACKETS_AND_FOR.findall(text):
        if word == "for" and depth > 0:
            return True
        if word in _OPENING:
            depth += 1
        elif word in _CLOSING:
            depth -= 1
    return False


class _Level:
    """What is known of the inside of one bracket, or of a statement."""

    __slots__ = (
        "awaits_colon",
        "awaits_in",
        "below",
        "best",
        "clauses",
        "factors",
        "inner",
        "most_factors",
        "own",
    )

    def __init__(self) -> None:
        #: Operators since the last comma, and the deepest bracket among them.
        self.own = self.below = 0
        #: Factors of this summand, and the most that one had.
        self.factors = self.most_factors = 0
        #: The deepest that came before.
        self.best = 0
        #: Clauses ``for``, and the most in brackets inside.
        self.clauses = self.inner = 0
        #: Whether commas are those of parameters and targets.
        self.awaits_colon = 0
        self.awaits_in = False

    def end_part(self) -> None:
        self.end_summand()
        self.best = max(self.best, self.own + self.most_factors + self.below)
        self.own = self.most_factors = self.below = 0

    def end_summand(self) -> None:
        self.most_factors = max(self.most_factors, self.factors)
        self.factors = 0


class _Reader:
    """Reads the tokens of a text, and keeps why it is refused."""

    def __init__(self, text: str, is_lambda: bool) -> None:
        is_long = len(text) > LONG
        self.lambda_depth = _DEPTH_OF_LAMBDA_IN_LONG if is_long else _DEPTH_OF_LAMBDA
        self.max_indents = MAX_INDENTS_OF_LONG if is_long else MAX_INDENTS
        self.reason = ""
        self.levels = [_Level()]
        #: For each indent, ``elif`` after each other, and blocks in this function.
        self.chains = [0]
        self.blocks = [0]
        self.opened = 0
        self.items = 0
        self.first = ""
        for kind, word in _tokens(f"({text}\n)" if is_lambda else text):
            self._read(kind, word)
            if self.reason:
                return

    def _read(self, kind: str, word: str) -> None:
        if kind == "INDENT":
            self._indent()
        elif kind == "DEDENT":
            if len(self.chains) > 1:
                del self.chains[-1], self.blocks[-1]
        elif kind == "NEWLINE":
            self._end_statement()
        elif kind == "NAME":
            self._read_name(word)
        elif kind == "FSTRING":
            # Versions before 3.12 do not cut these: all in it counts.
            self.levels[-1].own += _most_that_it_can_be(word)
            self.levels[-1].inner += word.count("for")
        elif kind == "OP":
            self._read_operator(word)

    def _indent(self) -> None:
        self.chains.append(0)
        starts_anew = self.first in ("def", "class")
        self.blocks.append(0 if starts_anew else self.blocks[-1] + self.opened)
        if len(self.chains) > self.max_indents:
            self.reason = f"it has more than {self.max_indents} indents in one another"

    def _read_name(self, word: str) -> None:
        if not self.first or self.first == "async":
            self._begin_statement(word)
        level = self.levels[-1]
        if word == _LAMBDA:
            level.own += self.lambda_depth
            level.awaits_colon += 1
        elif word in _DEEPER_WORDS:
            level.own += 1
            if word == "for" and len(self.levels) > 1:
                level.clauses += 1
                level.awaits_in = True
            elif word == "in":
                level.awaits_in = False

    def _begin_statement(self, word: str) -> None:
        self.first = word
        self.items = 1
        if word == "elif":
            self.chains[-1] += 1
        elif word != "else":
            self.chains[-1] = 0
        self.opened = _BLOCKS.get(word, 0)

    def _read_operator(self, word: str) -> None:
        self.first = self.first or word
        level = self.levels[-1]
        if word in "([{":
            level.own += 1
            self.levels.append(_Level())
            if len(self.levels) > MAX_BRACKETS:
                self.reason = f"it has more than {MAX_BRACKETS} brackets in one another"
        elif word in ")]}":
            if len(self.levels) > 1:
                self._close()
        elif word == ",":
            self.items += 1
            if not level.awaits_colon and not level.awaits_in:
                level.end_part()
        elif word == ":" and level.awaits_colon:
            level.awaits_colon -= 1
        elif word == ";":
            level.end_part()
        elif word in _FACTORS:
            level.factors += 1
        elif word != ":":
            level.own += 1
            if word in "+-":
                level.end_summand()

    def _close(self) -> None:
        closed = self.levels.pop()
        closed.end_part()
        level = self.levels[-1]
        level.below = max(level.below, closed.best + 1)
        around = closed.inner + closed.clauses
        level.inner = max(level.inner, around)
        if closed.clauses:
            opened = self.items if self.first == "with" else self.opened
            if around + self.blocks[-1] + opened > MAX_BLOCKS:
                self.reason = f"it has more than {MAX_BLOCKS} blocks in one another"

    def _end_statement(self) -> None:
        while len(self.levels) > 1:  # What does not close is no syntax.
            self._close()
        level = self.levels[0]
        level.end_part()
        if level.best + sum(self.chains) + len(self.chains) > MAX_DEPTH:
            self.reason = f"it has more than {MAX_DEPTH} operators in one another"
        if self.first == "with":
            self.opened = self.items
        self.levels = [_Level()]
        self.first = ""


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Kinds and words; comments, blank lines and text left out. Raises ValueError, or a
    SyntaxError, for what is not cut into these."""
    import tokenize

    try:
        yield from _words(tokenize, text)
    except tokenize.TokenError as error:
        raise ValueError(str(error)) from error


def _words(tokenize: Any, text: str) -> Iterator[tuple[str, str]]:
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
