"""What an answer may cover beyond the call that was asked about, and the rule it becomes (K10).

A grant is a rule like any other, so that what is shown is what is written and what holds.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from posixpath import dirname

from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.hcl import hcl_string
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.plan import Scope
from pluggableharness.kernel.domain.values import Json
from pluggableharness.kernel.policy.conditions import MOST_CHARACTERS
from pluggableharness.kernel.policy.facts import Facts
from pluggableharness.kernel.policy.floor import protected_write
from pluggableharness.kernel.policy.naming import named_paths
from pluggableharness.kernel.policy.rules import Action, Rule
from pluggableharness.kernel.policy.shell import Command, ShellView
from pluggableharness.kernel.policy.shell.subcommands import ONE_TARGET, head
from pluggableharness.kernel.policy.subjects import (
    ADDRESSES,
    FOLDERS,
    command_line,
    host,
    paths,
    speaks_of_content,
    speaks_of_paths,
)

_OF_A_FILE = re.compile(r"path|file|dir|folder", re.IGNORECASE)

_FREE = {
    "exec.bash": frozenset(["timeout_s", "description"]),
    "filesystem.write_file": frozenset(["create_parents"]),
    "filesystem.edit_file": frozenset(["replace_all"]),
    "filesystem.read_file": frozenset(["start_line", "end_line"]),
    "search.glob": frozenset(["hidden", "ignored", "limit", "pattern", "sort"]),
    "search.grep": frozenset(
        [
            *("after", "before", "glob", "hidden", "ignore_case", "ignored", "limit"),
            *("literal", "mode", "multiline", "pattern", "type"),
        ]
    ),
    "web.web_fetch": frozenset(["format", "max_bytes"]),
    "web.http_request": frozenset(["method", "headers"]),
}
"""Arguments that a narrower scope leaves open, beside those that hold content: what they change
is known. Any other may change what a call means, and must be as it was."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A scope before it is known to help."""

    covers: str
    when: str


def scopes(
    call: Call,
    asked_by: Rule | None,
    policy_files: frozenset[str] = frozenset(),
    digest: str | None = None,
) -> tuple[Scope, ...]:
    """What an allow of the call may cover, the usual one first.

    `asked_by` is the rule that asked, None for the default; `digest` that of what the operation
    declares, which such an allow is bound to (F4). Nothing is offered that would not answer the
    same question next time: a deny that became a question, a protected path, a command line that
    is distrusted.
    """
    if asked_by is not None and asked_by.action is Action.DENY:
        return ()
    return tuple(
        Scope(one.covers, one.when, written(_rule(call, asked_by, one.when, digest)))
        for one in _candidates(call, Facts(call))
        if len(one.when) <= MOST_CHARACTERS
        and protected_write(call, policy_files, named_paths(one.when)) is None
    )


def narrowest(call: Call, policy_files: frozenset[str] = frozenset()) -> Scope | None:
    """The scope that covers the least beyond a call that the default asked about, as a rule for
    agent.hcl; None when there is none.

    Of a shell's scopes that is the last, the line itself; of the others the first.
    """
    found = scopes(call, None, policy_files)
    if not found:
        return None
    return found[0] if command_line(call) is None else found[-1]


def granted(call: Call, asked_by: Rule | None, scope: Scope, digest: str | None = None) -> Rule:
    """The rule that a scope of the call becomes."""
    return _rule(call, asked_by, scope.when, digest)


def written(rule: Rule) -> str:
    """A granted rule as a policy file holds it."""
    fields = [f"{name} = {_listed(values)}" for name, values in rule.named.items()]
    settings = {"match": f"{{ {', '.join(fields)} }}"}
    if rule.when:
        settings["when"] = hcl_string(rule.when)
    settings["action"] = '"allow"'
    if rule.declared is not None:
        settings["declared"] = hcl_string(rule.declared)
    width = max(map(len, settings))
    lines = [f"  {name:<{width}} = {value}" for name, value in settings.items()]
    return "\n".join([f'policy "{rule.name}" {{', *lines, "}", ""])


def _rule(call: Call, asked_by: Rule | None, when: str, declared: str | None = None) -> Rule:
    """An allow that is as specific as the rule that asked, which it would not beat otherwise."""
    operation = call.operation
    risk = frozenset([operation.risk]) if asked_by and asked_by.risk is not None else None
    kind = frozenset([operation.kind]) if asked_by and asked_by.kind is not None else None
    if not when and asked_by is not None and asked_by.when:
        when = "true"
    scope = sha256(f"{risk} {kind} {when}".encode()).hexdigest()[:8]
    return Rule(
        f"granted-{operation.provider}-{operation.name}-{scope}",
        Action.ALLOW,
        frozenset([operation.name]),
        frozenset([operation.provider]),
        risk,
        kind,
        when=when,
        granted=True,
        declared=declared,
    )


def _candidates(call: Call, facts: Facts) -> Iterator[_Candidate]:
    if facts.view is not None:
        # Else no rule on commands could answer it.
        if facts.folder is not None and not call.distrusted:
            yield from _of_what_runs(call, facts.view, facts.folder)
        return
    address, kind = host(call), call.operation.kind
    subject = frozenset(_path_arguments(call) if address is None else address[:1])
    others = {name: value for name, value in call.arguments.items() if name not in FOLDERS}
    if address is not None:
        scope = _of_the_host(*address)
        if facts.named and not speaks_of_paths(address[0]):
            scope = replace(scope, when=f"{scope.when} && {_among(facts.named, kind)}")
        yield _bound(scope, call, subject | _content(call))
    elif any(True for _ in paths(replace(call, arguments=others))):
        for one in _of_paths(facts.named, kind, _of_one_file(subject)):
            yield _bound(one, call, subject | _content(call))
    elif not call.arguments.keys().isdisjoint(ADDRESSES):
        yield _bound(_Candidate("exactly this address", "true"), call, _content(call))
    else:
        yield _Candidate(f"every call of {call.operation.full_name}", "")


def _path_arguments(call: Call) -> list[str]:
    """The arguments that are no more than paths; those in which there are more are not."""
    return [
        name
        for name, value in call.arguments.items()
        if name not in FOLDERS and speaks_of_paths(name) and _is_text(value)
    ]


def _is_text(value: Json) -> bool:
    texts = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(one, str) for one in texts)


def _of_one_file(subject: frozenset[str]) -> bool:
    """Whether a folder says enough: another word there may name a machine, or a second place."""
    return len(subject) == 1 and all(map(_OF_A_FILE.search, subject))


def _content(call: Call) -> frozenset[str]:
    """The arguments that hold what is written, those that it could have as well."""
    return frozenset(
        name
        for name in {*call.arguments, *call.operation.input_schema.properties}
        if speaks_of_content(name) and isinstance(call.arguments.get(name, ""), str)
    )


def _in_folder(one: _Candidate, folder: str) -> _Candidate:
    covers = one.covers if folder == "." else f"{one.covers}, in {folder}"
    return replace(one, covers=covers, when=f"{one.when} && working_directory == {_cel(folder)}")


def _bound(one: _Candidate, call: Call, subject: frozenset[str]) -> _Candidate:
    """The scope for calls whose other arguments are the same, and that have no more of them."""
    free = subject | _FREE.get(call.operation.full_name, frozenset())
    kept = {name: value for name, value in call.arguments.items() if name not in free}
    declared = call.operation.input_schema.properties
    if not kept and declared and free.issuperset(declared):
        return one
    allowed = {*(free.intersection(declared) if declared else free), *kept}
    names = ", ".join(map(_cel, sorted(allowed)))
    tests = [f"arguments[{_cel(name)}] == {_cel(value)}" for name, value in kept.items()]
    when = " && ".join([one.when, f"arguments.all(a, a in [{names}])", *tests])
    shown = [f", with {name} = {_cel(value)}" for name, value in kept.items()]
    return replace(one, covers="".join([one.covers, *shown]), when=when)


def _of_what_runs(call: Call, view: ShellView, folder: str) -> Iterator[_Candidate]:
    """What covers a command; words that no shell reads are all to be as they were."""
    line = command_line(call)
    subject = frozenset(FOLDERS if line is None else ("command", *FOLDERS))
    exactly = [_Candidate("exactly this command", "true")]
    for one in exactly if line is None else _of_the_shell(line, view):
        yield _bound(_in_folder(one, folder), call, subject)


def _of_the_shell(line: str, view: ShellView) -> Iterator[_Candidate]:
    if not view.unusable and not view.unexpected:
        heads = [_head(command) for command in view.commands]
        known = [one for one in heads if one is not None]
        if len(known) == len(heads):
            several = sorted(set(known))
            any_of = " || ".join(_begins(one) for one in several)
            covers = ", ".join(" ".join(one) for one in several)
            yield _Candidate(f"{covers}, with any arguments", f"commands.all(c, {any_of})")
    yield _Candidate("exactly this command", f"arguments.command == {_cel(line)}")


def _head(command: Command) -> tuple[str, ...] | None:
    """Program and subcommand, where that is known to say what the command does."""
    return None if command.substitutes or command.unproven else head(command.argv)


def _begins(words: Sequence[str]) -> str:
    tests = [f"c.argv[{place}] == {_cel(word)}" for place, word in enumerate(words)]
    if words[0] in ONE_TARGET:
        tests.append(f'c.argv.filter(w, !w.startsWith("-")).size() == {len(words)}')
    return "(" + " && ".join([f"c.argv.size() > {len(words) - 1}", *tests]) + ")"


def _of_the_host(argument: str, scheme: str, name: str) -> _Candidate:
    pattern = f"^{scheme}://{re.escape(name)}(:[0-9]+)?([/?#]|$)"
    return _Candidate(f"anything at {name}", f"arguments.{argument}.matches({_cel(pattern)})")


def _of_paths(found: list[str], kind: Kind, with_folder: bool) -> Iterator[_Candidate]:
    variable = _variable(kind)
    yield _Candidate(", ".join(found), _among(found, kind))
    if not with_folder:
        return
    folders = {dirname(path) for path in found}
    folder = folders.pop()
    if folders or folder == "/":
        return
    if folder:
        test = f"p.startsWith({_cel(folder + '/')})"
        yield _Candidate(f"everything below {folder}/", f"{variable}.all(p, {test})")
    else:
        test = 'p != "." && !p.contains("/")'
        yield _Candidate("every file directly in the project", f"{variable}.all(p, {test})")


def _variable(kind: Kind) -> str:
    return "writes" if kind is Kind.RESOURCE else "reads"


def _among(found: list[str], kind: Kind) -> str:
    listed = ", ".join(_cel(path) for path in found)
    return f"{_variable(kind)}.all(p, p in [{listed}])"


def _cel(value: Json) -> str:
    """A value as CEL writes it; JSON's escapes are among its own, but for surrogates."""
    return json.dumps(value, ensure_ascii=False)


def _listed(values: list[str]) -> str:
    listed = [hcl_string(value) for value in values]
    return listed[0] if len(listed) == 1 else f"[{', '.join(listed)}]"
