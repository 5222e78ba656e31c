"""Which operations a rule's `match` speaks of, and whether there are any (K4, F1).

A rule that can never match is a mistake: a deny with a slip in a name would protect nothing.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.schema.nearest import did_you_mean

Operations = Mapping[str, tuple[str, ...] | None]
"""The operations of each provider that there is; None where only its start would tell."""


@dataclass(frozen=True, slots=True)
class There:
    """What rules may speak of; `arguments` are those of an operation, by its two names."""

    operations: Operations
    arguments: Mapping[tuple[str, str], tuple[str, ...]]


def split_names(names: Sequence[str], providers: Sequence[str]) -> tuple[list[str], list[str]]:
    """The own names of operations and their providers, where `exec.bash` is written for both.

    `providers` are those that the match names itself. Raises ValueError that says how to write it.
    """
    if not any("." in name for name in names):
        return list(names), list(providers)
    parts = [name.rpartition(".")[::2] for name in names]
    named = dict.fromkeys(provider for provider, _ in parts)
    if len(named) > 1 or not all(provider and name for provider, name in parts):
        raise ValueError(
            "'tool_name' is PROVIDER.OPERATION of one provider, or names without a provider; "
            "write a policy for each provider"
        )
    (provider,) = named
    if providers and list(providers) != [provider]:
        raise ValueError(
            f"'tool_name' says {provider} and 'provider' says {', '.join(providers)}; "
            "write the name alone, or leave 'provider' out"
        )
    return [name for _, name in parts], [provider]


def provider_problem(name: str, there: Operations) -> str | None:
    """What is wrong with a provider's name in a match."""
    if name in there:
        return None
    meant = did_you_mean(name, there)
    return f"there is no provider {in_quotes(name)}, so the rule never matches{meant}"


def operation_problem(name: str, providers: Sequence[str], there: Operations) -> str | None:
    """What is wrong with an operation's name; `providers` are those of the match, if any.

    Nothing, where a provider comes into question whose operations are not known yet.
    """
    among = {one: there[one] for one in (providers or there) if one in there}
    known = [(one, op) for one, ops in among.items() for op in ops or ()]
    if None in among.values() or not among or name in (op for _, op in known):
        return None
    where = f" of {' or '.join(among)}" if providers else ""
    meant = did_you_mean(name, [op for _, op in known])
    return f"there is no operation {in_quotes(name)}{where}, so the rule never matches{meant}"


def argument_problems(
    asked: Collection[str], names: Collection[str], providers: Collection[str], there: There
) -> Iterator[str]:
    """What is wrong with the arguments that a condition asks for.

    Nothing, unless the arguments of every operation that the match names are known.
    """
    among = [
        (one, name)
        for one in (providers or there.operations)
        for name in names
        if name in (there.operations.get(one) or ()) or there.operations.get(one) is None
    ]
    if not among or not all(one in there.arguments for one in among):
        return
    known = dict.fromkeys(name for one in among for name in there.arguments[one])
    for argument in sorted(asked):
        if argument not in known:
            meant = did_you_mean(argument, known, "arguments.")
            yield f"no call that the rule matches has arguments.{argument}{meant}"
