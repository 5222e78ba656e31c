"""Our parser beside HashiCorp's, over thousands of files made from good ones by small damage."""

import random
from collections.abc import Iterator

import pygohcl
import pytest

from pluggableharness.kernel.config.evaluate import Scope, evaluate
from pluggableharness.kernel.config.parser import parse
from pluggableharness.kernel.config.scanner import NotTaken
from pluggableharness.kernel.config.source import ConfigError, Problem, Source

SEEDS = (
    'a = 1\nb = "x"\n',
    'policy "reads" {\n  match  = { kind = "data_source", risk = ["low"] }\n  action = "a"\n}\n',
    'p "x" y {\n  timeout {\n    bash = "30s"\n  }\n  z { q = [1, 2,] }\n}\n',
    "# c\n// d\n/* e\n f */ a = 1 # g\nb = 2 // h\n",
    "a = <<-E\n    one ${b.c}\n      two $${x} %%{y}\n    E\nb = <<F\nx\nF\n",
    'a = "${b}-${upper("c")} \\n \\u00e9 \\" $$ ${~ d ~} e"\n',
    "a = [for k, v in x : v if k != 2]\nb = {for v in x : v => 1...}\n",
    'a = x ? y : z\nb = !(1 + 2 * 3 >= 4 && d || e) == f\nc = -g.h[0].1["i"]\n',
    'a = {\n  b = 1\n  c : 2, "d" = 3\n  (e) = f(1, [2]...)\n\n}\n',
    "a = f(\n  1,\n  2,\n)\nb = (\n 1\n + 2\n)\nc {}\n",
    "a-b = 1.5e3\n_c = 0.1\nd = null\ne = true\r\nf = false\n",
)
PIECES = (
    *"{}[]()\"'=,:.?!<>+-*/%&|$\\#~\n\r\t 019abE_é;@^`",
    *("${", "%{", "$${", "<<E\n", "<<-E\n", "/*", "*/", "//", "...", "=>", "==", "!=", "<=", ">="),
    *("&&", "||", "::", "for ", "in ", "if ", "null", "true", "\\n", "\\u12", "1.5", "1e9", '"x"'),
    *("a = 1\n", "b {\n}\n", "c { d = 1 }", "f(", "x.y", "x[0]", "E\n", "\nE\n", "  ", "\r\n"),
)


def damaged(random_: random.Random) -> str:
    text = random_.choice(SEEDS)
    for _ in range(random_.choice((0, 1, 1, 1, 2, 3))):
        at = random_.randrange(len(text) + 1)
        match random_.randrange(4):
            case 0:
                text = text[:at] + random_.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + random_.randrange(1, 4) :]
            case 2:
                other = random_.choice(SEEDS)
                text = text[:at] + other[random_.randrange(len(other)) :]
            case _:
                end = min(len(text), at + random_.randrange(1, 12))
                text = text[:at] + text[at:end] * 2 + text[end:]
    return text


def samples(seed: int, count: int) -> Iterator[str]:
    random_ = random.Random(seed)
    for _ in range(count):
        yield damaged(random_)


def theirs(text: str) -> bool:
    try:
        pygohcl.loads(text)
    except pygohcl.HCLParseError:
        return False
    except pygohcl.HCLInternalError:
        return True  # parsed, but its values are of no kind that it can hand over
    return True


def ours(text: str) -> bool | None:
    """Whether we take it; None when it is refused by a rule that is only ours."""
    repeated: list[Problem] = []
    try:
        parse(Source("agent.hcl", text), repeated)
    except ConfigError as error:
        return None if isinstance(error.__context__, NotTaken) else False
    return not repeated


@pytest.mark.req("F1")
@pytest.mark.parametrize("seed", range(8))
def test_a_file_is_taken_exactly_when_hcl2_takes_it(seed: int) -> None:
    """What HCL2 refuses is never taken; what it takes is, or is refused by a rule of our own."""
    differing = [
        (text, verdict, theirs(text))
        for text in samples(seed, 1000)
        if (verdict := ours(text)) is not None and verdict != theirs(text)
    ]
    assert differing == []


CONSTANTS = (
    '"x$${y}%%{z}$ % \\u00e9\\U0001F600 \\t"',
    "<<-E\n    one\n      two\n\n    three\n    E",
    "<<E\n  one\\n $${x}\nE",
    "<<-E\n  one\n \n  two\n  E",
    "<<-E\n\ttab\n\t  x\n\tE",
    '<<-E\n   a\n  ${"b"}\n  E',
    "<<-E\n  E",
    '[1, 2.5, 1e3, true, null, "x"]',
    '{ b = 1, "c d" = [2], 3 = 4 }',
    '"$$$${x}"',
    '"a${"b"}c"',
    '"x ${~ "y" ~} z"',
    '<<E\nx ${~ "y" ~}\n  z\nE',
    "12345678901234567890",
)


@pytest.mark.req("F1")
@pytest.mark.parametrize("text", CONSTANTS)
def test_a_constant_has_the_value_that_hcl2_gives_it(text: str) -> None:
    file = f"a = {text}\n"
    (setting,) = parse(Source("agent.hcl", file), []).settings
    assert evaluate(setting.value, Scope({})) == pygohcl.loads(file)["a"]
