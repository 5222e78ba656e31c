"""Secrets taken out of what is said, in the spellings that programs give a text (P31)."""

import base64
import html
import json
import urllib.parse
from collections.abc import Callable

import pytest

from pluggableharness.wire.masking import Mask

SECRET = "p/w \"ü\\\n<&>'~!+="

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON with its letters": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON of PHP": lambda text: json.dumps(text).replace("/", "\\/"),
    "Python": repr,
    "Python's bytes": lambda text: repr(text.encode()),
    "URL": lambda text: urllib.parse.quote(text, safe=""),
    "URL's path": urllib.parse.quote,
    "URL's form": urllib.parse.quote_plus,
    "URL of JavaScript": lambda text: urllib.parse.quote(text, safe="!*'()~"),
    "URL in small letters": lambda text: urllib.parse.quote(text, safe="").lower(),
    "HTML": html.escape,
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 behind one byte": lambda text: base64.b64encode(f":{text}".encode()).decode(),
    "base64 behind two": lambda text: base64.b64encode(f"a:{text};".encode()).decode(),
}


@pytest.mark.req("P31")
@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_a_secret_is_masked_in_every_spelling(spell: Callable[[str], str]) -> None:
    mask = Mask([SECRET])
    spelt = spell(SECRET)
    masked = mask.text(f"before {spelt} after")
    assert masked.startswith("before ") and masked.endswith(" after")
    assert "[secret]" in masked
    # Of base64 those characters may stay that hold bits of what stands around it.
    assert len(masked) <= len("before [secret] after") + 2 + 4
    assert mask.data(f"before {spelt} after".encode()) == masked.encode()


@pytest.mark.req("P31")
def test_secrets_that_overlap_go_as_one() -> None:
    mask = Mask(["abcd", "cdef", "abcdefgh"])
    assert mask.text("-abcdef-abcdefgh-abcdefghabcd-") == "-[secret]-[secret]-[secret][secret]-"


@pytest.mark.req("P31")
def test_the_head_of_a_secret_that_was_cut_short_is_masked() -> None:
    mask = Mask(["a-long-secret-of-many-letters"])
    assert mask.text("got 'a-long-secret-o…' (29 characters)") == "got '[secret]…' (29 characters)"
    assert mask.text("a-lo… and …") == "a-lo… and …"


@pytest.mark.req("P31")
def test_only_what_may_be_the_beginning_of_a_secret_waits() -> None:
    stream = Mask(["hunter2"]).stream()
    assert stream.feed(b"the password: ") == b"the password: "
    assert stream.feed(b"is h") == b"is "
    assert stream.feed(b"ard \xff\xfe") == b"hard \xff\xfe"
    assert stream.feed(b"hunte") == b""
    assert stream.feed(b"r2, hunter") == b"[secret], "
    assert stream.end() == b"hunter"


@pytest.mark.req("P31", "P14")
def test_a_run_of_secrets_without_end_is_not_kept() -> None:
    stream = Mask(["abab"]).stream()
    told = [stream.feed(b"ab" * 1000) for _ in range(100)]
    assert told[0] == b"[secret]" and not any(told[1:])
    assert len(stream._held) < 4


def test_without_secrets_nothing_is_copied() -> None:
    mask, data = Mask(["abc"]), b"abc" * 1000
    assert not mask.active
    assert mask.data(data) is data and mask.stream().feed(data) is data
