"""A URL is read in one way or refused."""

import pytest

from pluggableharness.providers.web.targets import Target, redirected, target_of
from pluggableharness.sdk import InvalidArguments

pytestmark = pytest.mark.req("C16")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://good.example:443@169.254.169.254/", "before @"),
        ("http://127.0.0.1:x@good.example/", "before @"),
        ("http://user:hunter2@good.example/", "before @"),
        ("http://127.0.0.1\\@good.example/", "backslash"),
        ("http:\\\\good.example/", "backslash"),
        (" http://good.example/", "blanks"),
        ("http://good.example/\t", "blanks"),
        ("http://good\n.example/", "blanks"),
        ("http://good.example/a b", "blanks"),
        ("http://good.example/\x00", "blanks"),
        ("http://good.example/\u00a0", "blanks"),
        ("http://good.example/\u2028", "blanks"),
        ("ftp://good.example/", "'ftp'"),
        ("file:///etc/passwd", "'file'"),
        ("good.example/", "the URL has no scheme;"),
        ("//good.example/", "no scheme"),
        ("http://", "no host"),
        ("http:///path", "no host"),
        ("http://good.example:0/", "1 to 65535"),
        ("http://good.example:99999/", "1 to 65535"),
        ("http://good.example:80x/", "ports are numbers"),
        ("http://good.example:\u0661/", "ports are numbers"),
        ("http://a:80:80/", "ports are numbers"),
        ("http://[::1/", "cannot be read"),
        ("http://[fe80::1%25eth0]/", "IPv6"),
        ("http://[127.0.0.1]/", ""),
        ("http://127.0.0.1%2f@x/", ""),
        ("http://good%2eexample/", "no name of a host"),
        ("http://ex*mple/", "no name of a host"),
        ("http://a..b/", "no name of a host"),
        (f"http://{'a' * 64}.test/", "no name of a host"),
        (f"http://{'a.' * 127}test/", "no name of a host"),
        ("http://256.256.256.256/", "no IPv4 address"),
        ("http://0x100000000/", "no IPv4 address"),
        ("http://" + "a" * 9000, "at most"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_without_repeating_a_password(
    url: str, said: str
) -> None:
    """Case web-06."""
    with pytest.raises(InvalidArguments) as refusal:
        target_of(url)
    assert said in refusal.value.message and "hunter2" not in refusal.value.message


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "017700000001", "127.0.0.1.",
     "0X7F.1", "\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021"],
)  # fmt: skip
def test_every_spelling_of_an_address_becomes_the_usual_one(host: str) -> None:
    """Cases web-03 and web-04."""
    target = target_of(f"http://{host}/")
    assert (target.host, target.is_address) == ("127.0.0.1", True)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://LOCALHOST:81/", Target("http", "localhost", 81, "/")),
        ("http://localhost.:81/", Target("http", "localhost", 81, "/")),
        ("HTTPS://Example.COM", Target("https", "example.com", 443, "/")),
        ("http://example.com:80?q=1#top", Target("http", "example.com", 80, "/?q=1")),
        ("http://good.example#@127.0.0.1/", Target("http", "good.example", 80, "/")),
        ("http://good.example?@127.0.0.1/", Target("http", "good.example", 80, "/?@127.0.0.1/")),
        ("http://[::FFFF:7f00:1]:8080/", Target("http", "::ffff:7f00:1", 8080, "/")),
        ("http://fa\u00df.de/", Target("http", "xn--fa-hia.de", 80, "/")),
        ("http://a_b.example/", Target("http", "a_b.example", 80, "/")),
        ("http://x.test/%2e/\u00e9?\u00fc=\"",
         Target("http", "x.test", 80, "/%2e/%C3%A9?%C3%BC=%22")),
    ],
)  # fmt: skip
def test_a_url_is_taken_apart(url: str, target: Target) -> None:
    assert target_of(url) == target


def test_what_is_shown_leads_to_the_same_target() -> None:
    for url in ("http://[::1]:81/a?b", "https://x.test/", "http://x.test:443/"):
        assert target_of(url).url == url


@pytest.mark.parametrize(
    ("location", "url"),
    [
        (b"/other", "http://x.test/other"),
        (b"other?q", "http://x.test/a/other?q"),
        (b"//y.test/", "http://y.test/"),
        ("/caf\u00e9 au lait".encode(), "http://x.test/caf%C3%A9%20au%20lait"),
        ("/caf\u00e9".encode("latin-1"), "http://x.test/caf%C3%A9"),
    ],
)
def test_a_location_is_read_against_where_it_stood(location: bytes, url: str) -> None:
    assert redirected(target_of("http://x.test/a/b"), location).url == url
