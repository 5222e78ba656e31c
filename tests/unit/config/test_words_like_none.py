"""Words of agent.hcl that are like none that could stand there."""

import pytest
from unit.config.reading_files import read

from pluggableharness.kernel.config.source import ConfigError


@pytest.mark.req("F1", "F9")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "settings {\n  far = 1\n}\n",
            "'far' in settings; there are: log_level, retry, default_timeout,",
        ),
        ("far {\n}\n", "no block 'far'; there are: required_providers, provider, policy,"),
        ('hook "x" {\n provider = "task"\n mode = "veto"\n}\n', "'x'; there are: session-start,"),
        (
            'agent_profile "a" {\n tools = ["filesystem.far"]\n}\n',
            "'far'; there are: filesystem.read_file,",
        ),
        ('provider "qqq" {\n}\n', "no provider 'qqq'; there are: filesystem, exec. Others"),
        ("settings {\n retry = qqq\n}\n", 'for a text write "qqq" in quotes\n'),
        ("settings {\n retry = qqqqq()\n}\n", "there is no function 'qqqqq'\n"),
        ('settings {\n log_level = "x"\n}\n', "debug, info, warning, error, not 'x'\n"),
    ],
)
def test_a_word_that_is_like_none_is_not_guessed_at_but_told_what_there_is(
    text: str, told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert told in str(caught.value)
    assert "did you mean" not in str(caught.value)
