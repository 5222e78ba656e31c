"""From text to simple commands, by tree-sitter's grammar of bash and a check of every gap.

The grammar is lenient and differs from bash here and there. So only nodes, tokens and gaps that
are known to mean the same to both are let through, and words are read from their text.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from pluggableharness.kernel.policy.shell.words import NotUnderstood, Word, names, word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MOST_NESTED = 40
_GAP: Final = re.compile(rb"(?:[ \t\n]|\\\n)*")
_GAP_WITHIN_LINE: Final = re.compile(rb"(?:[ \t]|\\\n)*")
_TOKENS: Final = frozenset(
    [
        *(";", "\n", "&", "&&", "||", "|", "|&", "(", ")", "{", "}", "!", "$(", "`", "<(", ">("),
        *("if", "then", "elif", "else", "fi", "while", "until", "do", "done"),
    ]
)
_GROUPS: Final = names(
    "program list pipeline negated_command subshell compound_statement if_statement elif_clause "
    "else_clause while_statement do_group"
)
_WORDS: Final = names(
    "word number string raw_string concatenation command_substitution process_substitution"
)
_WORD_PARTS: Final = names("word number string raw_string string_content")
_SUBSTITUTIONS: Final = frozenset(["command_substitution", "process_substitution"])
_REDIRECTS: Final = frozenset(["file_redirect", "herestring_redirect", "heredoc_redirect"])
_HEREDOC: Final = ["<<", "heredoc_start", "heredoc_body", "heredoc_end"]
_WRITING: Final = frozenset([">", ">>", ">|", "&>", "&>>"])
_NO_FILES: Final = frozenset(["/dev/null", "/dev/stdout", "/dev/stderr"])
_BEFORE_WORD: Final = frozenset(b" \t\n;&|<>(")
_BEHIND_WORD: Final = frozenset(b" \t\n;&|<>)")
_NUMBERED_OR_NAMED: Final = frozenset(b"0123456789}")
_DESCRIPTOR: Final = re.compile(r"[0-9]{1,2}")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./-]+")
_DELIMITER: Final = re.compile(r"<<(?:([A-Za-z_]+)|'([A-Za-z_]+)'|\"([A-Za-z_]+)\")")
_CONTINUED_WORD: Final = re.compile(r"[^ \t\n]\\\n[^ \t\n]|\\[ \t]\\\n|\\\\\n")


@dataclass(slots=True)
class Simple:
    """A simple command: its words, what its redirects write and read, and whether words of it
    are made by other commands, which are found beside it."""

    words: list[Word] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    substitutes: bool = False


def simple_commands(line: str) -> list[Simple]:
    """All simple commands of a line, at whatever depth. Raises NotUnderstood."""
    for char in line:
        if not char.isprintable() and char not in "\n\t":
            raise NotUnderstood(f"it holds {char!a}")
    if _CONTINUED_WORD.search(line):
        raise NotUnderstood("a line continuation within a word")
    try:
        source = line.encode()
    except UnicodeEncodeError:
        raise NotUnderstood("it is not Unicode text") from None
    root = _parser().parse(source).root_node
    if root.has_error:
        raise NotUnderstood("it does not parse")
    return _Walk(source).all(root)


@cache
def _parser() -> "Parser":
    # Late: most sessions' rules say nothing of commands, and this takes 60 ms.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class _Walk:
    """One pass over the tree of one source."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._found: list[Simple] = []
        self._backquotes: set[int] = set()

    def all(self, root: "Node") -> list[Simple]:
        if _GAP.fullmatch(self._source[: root.start_byte]) is None:
            raise NotUnderstood("it does not parse")
        self._statement(root, 0)
        if _GAP.fullmatch(self._source[root.end_byte :]) is None:
            raise NotUnderstood("it does not parse")
        return self._found

    def _statement(self, node: "Node", depth: int) -> list[Simple]:
        """The simple commands that a statement runs itself, without those of substitutions."""
        if depth > _MOST_NESTED:
            raise NotUnderstood("it is nested too deeply")
        match node.type:
            case "command":
                return [self._command(node, depth)]
            case "redirected_statement":
                return self._redirected(node, depth)
            case "comment":
                self._begins(node)
                return []
            case kind if kind in _GROUPS:
                return self._group(node, depth)
            case kind:
                raise NotUnderstood(f"{kind.replace('_', ' ')} is not understood")

    def _group(self, node: "Node", depth: int) -> list[Simple]:
        children = self._checked(node)
        if node.type == "compound_statement" and self._text(children[0]) != "{":
            raise NotUnderstood("arithmetic is not understood")
        found: list[Simple] = []
        for child in children:
            if child.is_named:
                found += self._statement(child, depth + 1)
            else:
                self._token(child)
        return found

    def _command(self, node: "Node", depth: int) -> Simple:
        simple = Simple()
        self._found.append(simple)
        for child in self._checked(node):
            if child.type == "command_name":
                (name,) = self._checked(child)
                simple.words.append(self._word(name, simple, depth))
            elif child.type in _WORDS:
                simple.words.append(self._word(child, simple, depth))
            elif child.type == "variable_assignment":
                raise NotUnderstood("an assignment before a command changes what runs")
            else:
                simple.words += self._redirect(child, [simple], depth)
        return simple

    def _redirected(self, node: "Node", depth: int) -> list[Simple]:
        """A statement with redirects behind it; what follows a file's name is an argument."""
        children = self._checked(node)
        body = [child for child in children if child.type not in _REDIRECTS]
        if len(body) > 1:
            raise NotUnderstood("a redirect that is not understood")
        simples = self._statement(body[0], depth + 1) if body else []
        if not body:
            simples = [Simple()]
            self._found += simples
        for child in children:
            if child.type in _REDIRECTS:
                words = self._redirect(child, simples, depth)
                if words and not (body and body[0].type == "command"):
                    raise NotUnderstood("words behind a redirect that is not understood")
                simples[0].words += words
        return simples

    def _redirect(self, node: "Node", simples: list[Simple], depth: int) -> list[Word]:
        match node.type:
            case "file_redirect":
                return self._file(node, simples, depth)
            case "herestring_redirect":
                texts = self._checked(node)[1:]
                if len(texts) != 1:
                    raise NotUnderstood("a here-string that is not understood")
                self._word(texts[0], simples[0], depth)
                return []
            case "heredoc_redirect":
                self._heredoc(node)
                return []
            case kind:
                raise NotUnderstood(f"{kind.replace('_', ' ')} is not understood")

    def _file(self, node: "Node", simples: list[Simple], depth: int) -> list[Word]:
        children = self._checked(node)
        if children[0].type == "file_descriptor":
            self._begins(children[0])
            touches = children[0].end_byte == children[1].start_byte
            if not touches or _DESCRIPTOR.fullmatch(self._text(children[0])) is None:
                raise NotUnderstood("a redirect that is not understood")
            children = children[1:]
        operator = self._text(children[0])
        if len(children) < 2:
            raise NotUnderstood("a redirect without a file")
        target, *rest = [self._word(child, simples[0], depth) for child in children[1:]]
        if children[1].type in _SUBSTITUTIONS or not target.fixed:
            raise NotUnderstood("a redirect to a place that is not a plain word")
        self._place(operator, target.value, simples)
        return rest

    def _place(self, operator: str, target: str, simples: list[Simple]) -> None:
        if operator in (">&", "<&"):
            if target.isdecimal() or target == "-":
                return
            # bash itself reads quotes in this old form of &> in a way of its own.
            if operator == "<&" or _PLAIN.fullmatch(target) is None:
                raise NotUnderstood("a redirect that is not understood")
        if target.startswith(("/dev/tcp/", "/dev/udp/")) or not target:
            raise NotUnderstood("a redirect to a network address")
        if operator == "<":
            for simple in simples:
                simple.reads.append(target)
        elif operator not in _WRITING and operator != ">&":
            raise NotUnderstood(f"the redirect {operator} is not understood")
        elif target not in _NO_FILES:
            for simple in simples:
                simple.writes.append(target)

    def _heredoc(self, node: "Node") -> None:
        """Let a heredoc pass whose end bash and the grammar must agree on, and that is literal."""
        kinds = [child.type for child in node.children]
        if kinds not in (_HEREDOC, [*_HEREDOC[:2], _HEREDOC[3]]) or self._source.count(b"<<") != 1:
            raise NotUnderstood("a heredoc that is not understood")
        start, end = node.children[1], node.children[-1]
        opening = self._source[node.start_byte : start.end_byte].decode()
        found = _DELIMITER.fullmatch(re.sub(r"^<<[ \t]+", "<<", opening))
        if found is None:
            raise NotUnderstood("a heredoc that is not understood")
        delimiter = next(group for group in found.groups() if group)
        first, _, body = self._source[start.end_byte :].decode().partition("\n")
        lines = body.split("\n")
        if first.strip(" \t") or self._text(end) != delimiter or delimiter not in lines:
            raise NotUnderstood("a heredoc that is not understood")
        ends_at = start.end_byte + len(first.encode()) + 1
        held = lines[: lines.index(delimiter)]
        ends_at += sum(len(one.encode()) + 1 for one in held)
        if end.start_byte != ends_at:
            raise NotUnderstood("a heredoc that is not understood")
        if found[1] and any(char in one for one in held for char in "$`\\"):
            raise NotUnderstood("a heredoc that expands")

    def _word(self, node: "Node", simple: Simple, depth: int) -> Word:
        if node.type not in _WORDS:
            raise NotUnderstood(f"{node.type.replace('_', ' ')} is not understood")
        self._begins(node)
        self._ends(node)
        inner = self._substitutions(node)
        if not inner:
            return word(self._text(node))
        simple.substitutes = True
        around, at = b"", node.start_byte
        for substitution in inner:
            around += self._source[at : substitution.start_byte] + b"x"
            at = substitution.end_byte
            self._substituted(substitution, depth)
        word(
            (around + self._source[at : node.end_byte]).decode()
        )  # that must be plain all the same
        return Word(self._text(node), fixed=False)

    def _substitutions(self, node: "Node") -> list["Node"]:
        if node.type in _SUBSTITUTIONS:
            return [node]
        found: list[Node] = []
        for child in node.named_children:
            if child.type in _SUBSTITUTIONS:
                found.append(child)
            elif child.type in _WORD_PARTS:
                found += self._substitutions(child)
            else:
                raise NotUnderstood(f"{child.type.replace('_', ' ')} is not understood")
        return found

    def _substituted(self, node: "Node", depth: int) -> None:
        text = self._text(node)
        if text.startswith("`"):
            if "\\" in text:
                raise NotUnderstood("a backslash within backquotes")
            self._backquotes |= {node.start_byte + 1, node.end_byte - 1}
        for child in self._checked(node):
            if child.is_named:
                self._statement(child, depth + 1)
            else:
                self._token(child)

    def _token(self, node: "Node") -> None:
        text = self._text(node).strip(" \t")
        if text not in _TOKENS:
            raise NotUnderstood(f"{text} is not understood")
        if text.isalpha() or text in ("{", "}", "!"):
            self._begins(node)
            self._ends(node)

    def _begins(self, node: "Node") -> None:
        """Raise NotUnderstood unless bash begins a word where the grammar does."""
        at = node.start_byte
        if at > 0 and at not in self._backquotes and self._source[at - 1] not in _BEFORE_WORD:
            raise NotUnderstood("words that touch")

    def _ends(self, node: "Node") -> None:
        """Raise NotUnderstood unless bash ends a word where the grammar does, and takes it for
        no number or name of the redirect that it touches."""
        at = node.end_byte
        following = self._source[at : at + 2]
        if not following or at in self._backquotes or following == b"\\\n":
            return
        if following[0] not in _BEHIND_WORD:
            raise NotUnderstood("words that touch")
        if following[0] in b"<>" and self._source[at - 1] in _NUMBERED_OR_NAMED:
            raise NotUnderstood("a word that touches a redirect, which it may belong to")

    def _checked(self, node: "Node") -> list["Node"]:
        """A node's children, when nothing but blanks stands between them; lines only end
        between statements."""
        gap = _GAP if node.type in _GROUPS | _SUBSTITUTIONS else _GAP_WITHIN_LINE
        at = node.start_byte
        for child in node.children:
            if gap.fullmatch(self._source[at : child.start_byte]) is None:
                raise NotUnderstood("it does not parse")
            at = child.end_byte
        if at > node.start_byte and gap.fullmatch(self._source[at : node.end_byte]) is None:
            raise NotUnderstood("it does not parse")
        return node.children

    def _text(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte].decode()
