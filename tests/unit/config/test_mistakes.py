"""Every mistake at its place, all of them at once (F1)."""

import pytest
from unit.config.reading_files import problems, read

from pluggableharness.kernel.config.known import built_in
from pluggableharness.kernel.config.source import ConfigError
from pluggableharness.kernel.domain.errors import UsageError
from pluggableharness.kernel.domain.verdict import Reviewer
from pluggableharness.kernel.policy import Action


@pytest.mark.req("F1")
def test_all_mistakes_of_a_file_are_told_at_once_in_its_order() -> None:
    text = """\
required_provider {
}
provider "filesystem" {
  allowed_root = ["/x"]
  require_read = "no"
}
policy "a" {
  match  = { kind = "resorce" }
  action = "alow"
}
x = 1
"""
    actions = ", ".join(one.value for one in Action)
    assert problems(text) == [
        "1:1: there is no block 'required_provider'; did you mean required_providers?",
        "4:3: allowed_root: there is no such setting; did you mean allowed_roots?",
        "5:3: require_read: expected true or false, got a string",
        "8:21: there is no kind 'resorce'; did you mean resource?",
        f"9:12: 'action' is one of {actions}, not 'alow'; did you mean allow?",
        "11:1: 'x' stands outside of every block; there are: required_providers, provider, "
        "policy, agent_profile, hook, settings",
    ]


@pytest.mark.req("F1")
@pytest.mark.parametrize(
    ("text", "head"),
    [
        ('settings {\n}\npolicy "a" {\n action = "ask"\n\nhook "x" {\n}\n', "'policy \"a\"'"),
        ('policy "b" {\n}\n\npolicy "a" {\n examples {\n', "'examples'"),
        ("\n\nsettings {\n", "'settings'"),
    ],
)
def test_a_missing_brace_names_the_block_that_is_open_and_where_it_was_opened(
    text: str, head: str
) -> None:
    (found,) = problems(text)
    line = 5 if head == "'examples'" else 3
    assert found.endswith(
        f"found the end of the file; {head}, opened in line {line}, is not closed"
    )


@pytest.mark.req("F1", "F6")
def test_a_broken_line_of_a_rule_or_a_profile_is_shown_as_it_is() -> None:
    with pytest.raises(ConfigError) as caught:
        read('policy "a" {\n  match = { tool_name = "bash" provider = "exec" }\n}\n')
    assert '    match = { tool_name = "bash" provider = "exec" }\n' in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        read('agent_profile "default" {\n  tools = ["exec.*" "search.*"]\n}\n')
    assert '    tools = ["exec.*" "search.*"]\n' in str(caught.value)


@pytest.mark.req("F1", "F6")
@pytest.mark.parametrize("outer", ["", 'policy "p" {\n', 'agent_profile "p" {\n  model {\n'])
def test_a_broken_line_where_a_secret_may_stand_is_not(outer: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(outer + 'provider "web" {\n  api_key = "sk-live" "x"\n}\n')
    assert "sk-live" not in str(caught.value)
    with pytest.raises(ConfigError, match="set twice") as caught:
        read('provider "web" {\n  api_key = env("KEY")\n  api_key = "sk-live"\n}\n')
    assert "sk-live" not in str(caught.value)


@pytest.mark.req("F1", "F6")
def test_a_line_where_a_secret_may_stand_shows_the_names_of_variables_alone() -> None:
    text = (
        'provider "web" {\n  api_key = env("KEY") + myenv("sk-a") + env("sk-b") + env("sk_c" "x"\n'
    )
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert 'api_key = env("KEY") + myenv("' in str(caught.value)
    assert not any(one in str(caught.value) for one in ("sk-a", "sk-b", "sk_c"))


@pytest.mark.req("F1", "K7")
@pytest.mark.parametrize(
    ("when", "field", "near"),
    [
        ("commands.all(c, c.progam == 'ls')", "progam", "program"),
        ("commands.exists(x, x.argv[0] == 'a' && x . agrv.size() > 1)", "agrv", "argv"),
        ("commands[0].programm == 'ls'", "programm", "program"),
        ("commands.filter(c, c.rediects_to.size() > 0).size() == 0", "rediects_to", "redirects_to"),
    ],
)
def test_a_field_that_no_command_has_is_warned_of_with_the_one_that_was_meant(
    when: str, field: str, near: str
) -> None:
    text = f'\npolicy "a" {{\n  match  = {{ provider = "exec" }}\n  when   = "{when}"\n'
    (warning,) = read(text + '  action = "ask"\n}\n').warnings
    assert warning == f"agent.hcl:4:12: no command has a field '{field}'; did you mean {near}?"


@pytest.mark.req("F1", "K7")
@pytest.mark.parametrize(
    "when",
    [
        "commands.all(c, c.program == 'c.progam' && c.argv.all(a, a.startsWith('x')))",
        "commands.all(c, c.program == 'x') && [{'b': 1}].all(c, c.b == 1)",
        "commands.all(c, c.substitutes || c.env == [] || c.redirects_to == [])",
    ],
)
def test_what_may_be_a_field_of_something_else_is_not(when: str) -> None:
    head = 'policy "a" {\n match = { provider = "exec" }\n action = "ask"\n'
    text = f'{head} when = "{when}"\n}}\n'
    assert read(text).warnings == ()


@pytest.mark.req("F1", "F9")
def test_a_tool_of_a_provider_that_may_be_a_slip_is_warned_of() -> None:
    text = 'agent_profile "default" {\n  tools = ["filesytem.*", "exec.bash", "jira.*"]\n}\n'
    (warning,) = read(text).warnings
    assert warning == (
        "agent.hcl:2:12: no provider 'filesytem' is loaded, so 'filesytem.*' offers nothing; "
        "did you mean filesystem?"
    )


@pytest.mark.req("F1")
def test_a_mistake_shows_its_line_and_points_at_the_text() -> None:
    with pytest.raises(ConfigError) as caught:
        read('settings {\n  log_levl = "info"\n}\n')
    assert str(caught.value) == (
        "agent.hcl:2:3: there is no attribute 'log_levl' in settings; did you mean log_level?\n"
        '      log_levl = "info"\n'
        "      ^^^^^^^^"
    )


@pytest.mark.req("F1")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("settings {\n retry = 1\n retry = 2\n}\n", "3:2: 'retry' is set twice, first in line 2"),
        ("settings { retry = 1 gate_reads = true }\n", "1:22: expected '}', or each attribute"),
        ('settings {\n log_level = "\\q"\n}\n', "2:15: no such escape"),
        ('settings {\n log_level = "\\U00110000"\n}\n', "2:15: no such escape"),
        ('settings {\n log_level = "\\ud800"\n}\n', "2:15: no such escape"),
        ('settings {\n log_level = "x\n}\n', "2:14: this string is not closed on its line"),
        ("settings {\n", "2:1: expected '}', found the end of the file"),
        ("settings\n{\n}\n", "1:9: expected '=' and a value, or '{'"),
        ("settings {}\nsettings {}\n", "2:1: settings stands twice, first in line 1"),
        ('policy "a" "b" {}\n', "1:12: 'policy' needs one label, a name"),
        ("policy {}\n", "1:1: 'policy' needs one label, a name"),
        ("/* settings {}", "1:1: this comment is not closed"),
        ("settings {\n model {\n }\n}\n", "2:2: there is no block 'model' in settings"),
        ("settings {\n retry {\n }\n}\n", "2:2: 'retry' is an attribute: write retry ="),
        ("settings {\n retry = 11\n}\n", "2:10: 'retry' is a whole number from 0 to 10, not 11"),
        ("settings {\n gate_reads = 1\n}\n", "2:15: 'gate_reads' is true or false, not 1"),
        ("settings {\n default_timeout = 30\n}\n", "2:20: 'default_timeout' is a time such as"),
        ("settings {\n telemetry = wher.e\n}\n", "2:14: there is no variable 'wher'"),
        ("a = " + "(" * 70 + "1" + ")" * 70, "1:37: this is nested too deeply"),
    ],
)
def test_a_mistake_has_its_place_and_its_words(text: str, expected: str) -> None:
    (found,) = problems(text)
    assert found.startswith(expected)


DEEP = ("1" + " + 1" * 20_000, "a" + ".b" * 20_000)


@pytest.mark.req("F1")
@pytest.mark.parametrize("deep", DEEP, ids=["a sum", "a path"])
@pytest.mark.parametrize(
    "text",
    [
        "settings {\n retry = DEEP\n}\n",
        'policy "a" {\n match = DEEP\n action = "ask"\n}\n',
        "required_providers {\n x = DEEP\n}\n",
        'provider "filesystem" {\n require_read = DEEP\n}\n',
    ],
)
def test_an_expression_that_goes_too_deep_is_a_mistake_at_its_place(text: str, deep: str) -> None:
    found = problems(text.replace("DEEP", deep))
    assert "this expression goes too deep" in found[0]


@pytest.mark.req("F1")
def test_a_time_without_a_unit_is_not_told_to_be_no_string() -> None:
    (found,) = problems('settings {\n default_timeout = "5"\n}\n')
    assert found == """2:20: 'default_timeout' is a time such as "30s", "10m" or "1h\""""


@pytest.mark.req("F1")
def test_an_attribute_that_is_set_twice_is_told_beside_the_other_mistakes() -> None:
    found = problems("settings {\n retry = 99\n retry = 2\n}\nx = 1\n")
    assert [one.split(": ")[0] for one in found] == ["2:10", "3:2", "5:1"]


@pytest.mark.req("F1")
def test_names_are_taken_once_each() -> None:
    text = 'policy "a" {\n action = "ask"\n match = { kind = "resource" }\n}\npolicy "a" {\n}\n'
    assert problems(text) == ['5:8: policy "a" stands twice, first in line 1; keep one of them']


@pytest.mark.req("F1", "K5")
def test_rules_that_contradict_each_other_are_shown_both_with_their_places() -> None:
    text = """\
policy "one" {
  match  = { kind = "resource" }
  action = "allow"
}
policy "two" {
  match  = { kind = ["resource"] }
  action = "deny"
}
"""
    (found,) = problems(text)
    assert found.startswith("5:1: ")
    assert 'policy "one" (agent.hcl:1:1)' in found
    assert 'policy "two" (agent.hcl:5:1)' in found


@pytest.mark.req("K5")
def test_a_rule_without_a_match_is_a_warning() -> None:
    (warning,) = read('policy "all" {\n  action = "ask"\n}\n').warnings
    assert warning.startswith('agent.hcl:1:1: policy "all"')


@pytest.mark.req("F2", "F3")
def test_providers_keep_the_order_in_which_they_are_required() -> None:
    text = "required_providers {\n  filesystem = {}\n  exec = {}\n}\n"
    config = read(text + 'provider "filesystem" {\n  require_read = true\n}\n')
    assert [one.name for one in config.providers] == ["filesystem", "exec"]


@pytest.mark.req("F2", "K25")
def test_blocks_keep_their_order() -> None:
    text = "".join(
        f'hook "{point}" {{\n  provider = "{provider}"\n  mode = "observe"\n}}\n'
        for point, provider in (
            ("plan-ready", "exec"),
            ("pre-tool-call", "filesystem"),
            ("plan-ready", "filesystem"),
        )
    )
    assert [(hook.point.value, hook.provider) for hook in read(text).hooks] == [
        ("plan-ready", "exec"),
        ("pre-tool-call", "filesystem"),
        ("plan-ready", "filesystem"),
    ]


@pytest.mark.req("F1")
def test_a_hook_names_a_point_a_mode_and_a_loaded_provider() -> None:
    text = 'hook "pre-tol-call" {\n  provider = "exek"\n  mode = "vetoo"\n}\n'
    found = problems(text)
    assert [one.split(": ")[0] for one in found] == ["1:6", "2:14", "3:10"]
    assert "did you mean pre-tool-call?" in found[0]
    assert "did you mean exec?" in found[1]
    assert "did you mean veto?" in found[2]


@pytest.mark.req("F1")
@pytest.mark.parametrize("value", ["1" + "+1" * 5000, "a" + ".b" * 5000, "!" * 5000 + "true"])
def test_a_monstrous_expression_is_refused_and_nothing_breaks(value: str) -> None:
    with pytest.raises(UsageError, match="deep"):
        read(f"settings {{\n  retry = {value}\n}}\n")


@pytest.mark.req("K7", "F1")
def test_a_condition_is_compiled_and_its_mistake_has_its_place() -> None:
    text = """\
policy "a" {
  match  = { tool_name = "bash" }
  when   = "arguments.command == comands"
  action = "allow"
}
"""
    (found,) = problems(text)
    assert found.startswith("3:")
    assert "comands" in found


@pytest.mark.req("K7", "F1")
def test_only_a_line_feed_ends_a_line_of_a_condition() -> None:
    when = "tool != 'a\u2028b\x0cc' &&\ntrue &&\narguments.command == comands"
    (found,) = problems(f'policy "a" {{\n  when   = <<E\n{when}\nE\n  action = "allow"\n}}\n')
    assert found.startswith("5:22: "), found


@pytest.mark.req("K4", "F1")
def test_a_full_name_is_a_provider_and_an_operation() -> None:
    text = 'policy "a" {\n  match  = { tool_name = ["exec.bash"] }\n  action = "deny"\n}\n'
    (rule,) = read(text).rules
    assert (rule.provider, rule.tool_name) == (frozenset({"exec"}), frozenset({"bash"}))
    assert rule.rank == (True, True, False, False, False)


HELLO = 'required_providers {\n  exec = {}\n  hello = { source = "python:hello" }\n}\n'


@pytest.mark.req("K4", "F1")
@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ('tool_name = "exec.bsh"', "there is no operation 'bsh' of exec"),
        (
            'tool_name = "bsh"',
            "there is no operation 'bsh', so the rule never matches; did you mean",
        ),
        ('tool_name = ["bash", "bsh"]', "there is no operation 'bsh'"),
        ('tool_name = "exek.bash"', "there is no provider 'exek'"),
        ('provider = "exek"', "so the rule never matches; did you mean exec?"),
        ('provider = "exec", tool_name = "read_file"', "no operation 'read_file' of exec"),
        ('provider = "filesystem", tool_name = "exec.bash"', "says exec and 'provider' says"),
        ('tool_name = ["exec.bash", "filesystem.read_file"]', "a policy for each provider"),
        ('tool_name = ["exec.bash", "read_file"]', "a policy for each provider"),
        ('tool_name = "exec."', "is PROVIDER.OPERATION"),
    ],
)
def test_a_rule_that_can_never_match_is_a_mistake(match: str, expected: str) -> None:
    (found,) = problems(f'policy "a" {{\n  match  = {{ {match} }}\n  action = "deny"\n}}\n')
    assert found.startswith("2:")
    assert expected in found


@pytest.mark.req("K4", "F9")
@pytest.mark.parametrize(
    "match",
    [
        'tool_name = "hello.greet"',
        'tool_name = "greet"',
        'provider = ["exec", "hello"], tool_name = "greet"',
        'provider = "filesystem"',
    ],
)
def test_a_rule_may_speak_of_what_is_known_only_later_and_of_what_is_not_loaded(match: str) -> None:
    text = f'policy "a" {{\n  match  = {{ {match} }}\n  action = "deny"\n}}\n'
    assert len(read(HELLO + text).rules) == 1


@pytest.mark.req("K7", "F1")
@pytest.mark.parametrize(
    ("match", "when", "expected"),
    [
        ('tool_name = "bash"', "arguments.comand == '1'", "did you mean arguments.command?"),
        ('tool_name = "exec.bash"', "has(arguments.comand)", "did you mean arguments.command?"),
        ('tool_name = "exec.bash"', "arguments.command == 'arguments.x'", ""),
        ('tool_name = "exec.bash"', "arguments.size() == 1", ""),
        ('tool_name = ["bash", "read_file"]', "has(arguments.path)", ""),
        ('provider = "exec"', "arguments.comand == '1'", ""),
    ],
)
def test_an_argument_that_no_matched_operation_has_is_a_mistake(
    match: str, when: str, expected: str
) -> None:
    found = problems(
        f'policy "a" {{\n  match  = {{ {match} }}\n  when   = "{when}"\n  action = "deny"\n}}\n',
        known=built_in(),
    )
    assert len(found) == bool(expected)
    assert all(expected in one and one.startswith("3:") for one in found)


@pytest.mark.req("F11")
def test_examples_and_reviewers_are_read() -> None:
    text = """\
policy "a" {
  match    = { tool_name = "bash" }
  when     = "has(arguments.command) && arguments.command == 'ls'"
  action   = "review"
  reviewer = "careful"
  examples {
    must_match     = [{ command = "ls" }]
    must_not_match = [{ command = "rm" }, {}]
  }
}
agent_profile "careful" {
}
"""
    (rule,) = read(text).rules
    assert rule.reviewer == Reviewer(profile="careful")
    assert [(one.arguments, one.matches) for one in rule.examples] == [
        ({"command": "ls"}, True),
        ({"command": "rm"}, False),
        ({}, False),
    ]
    assert "did you mean careful?" in problems(text.replace('"careful"\n', '"carefull"\n'))[0]
    assert "go together" in problems(text.replace('"review"', '"ask"'))[0]
    wrong = problems(text.replace('"rm" }, {}', '"ls" }') + "settings {\n  retry = 99\n}\nx = 1\n")
    assert len(wrong) == 3
    assert 'policy "a" must not match {"command": "ls"}' in wrong[0]
