"""R4: every spelling of forbidden addresses, behind redirects and names that rebind."""

import asyncio
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from random import Random

from bench.survive.survived import Survived
from pluggableharness.providers.web.answers import Wanted
from pluggableharness.providers.web.connecting import Network, system_dial
from pluggableharness.providers.web.domains import Domains
from pluggableharness.providers.web.fetching import Fetcher
from pluggableharness.sdk import ToolFailure

ID = "R4"
SIZE = 20_000

PUBLIC = "93.184.216.34"
_AT_ONCE = 8
_V4 = (
    *(IPv4Network((first << 24, 8)) for first in (0, 10, 127)),
    *(IPv4Network((first << 24, 4)) for first in (224, 240)),
    IPv4Network("100.64.0.0/10"),
    IPv4Network("172.16.0.0/12"),
    IPv4Network("198.18.0.0/15"),
    IPv4Network("169.254.0.0/16"),
    IPv4Network("192.168.0.0/16"),
    *map(IPv4Network, ("0.0.0.0", "127.0.0.1", "169.254.169.254", "100.100.100.200")),
    IPv4Network("168.63.129.16"),
)
_V6 = tuple(map(IPv6Network, ("::", "::1", "fc00::/7", "fe80::/10", "ff00::/8", "fd00:ec2::254")))
_EMBEDDINGS = (
    "::ffff:{0}", "::{0}", "::ffff:0:{0}", "64:ff9b::{0}", "64:ff9b:1::{0}", "2002:{0}::",
    "2a00:1450:4001::5efe:{0}", "2001:0:4136:e378:8000:63bf:{1}",
)  # fmt: skip
_PATH = re.compile(r"/(\d{3})/((?:[0-9a-f]{2})+)/?")
_DIGITS = "\u2460\u2461\u2462\u2463\u2464\u2465\u2466\u2467\u2468"
_STOPS = ".\u3002\uff0e\uff61"


async def run(count: int) -> Survived:
    """Try so many ways to reach what may not be reached."""
    trial = _Trial()
    server = await asyncio.start_server(trial.serve, "127.0.0.1", 0)
    trial.port = server.sockets[0].getsockname()[1]
    seeds = iter(range(count))
    async with server, asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(trial.work(seeds))
    done = f"tried {count} ways to a forbidden address"
    return Survived(ID, done, dict(sorted(trial.counts.items())), tuple(trial.faults))


class _Trial:
    """A public server that redirects wherever it is told, a lying resolver, and a witness."""

    def __init__(self) -> None:
        self.port = 0
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    async def work(self, seeds: Iterator[int]) -> None:
        """Take seeds until there are none."""
        for seed in seeds:
            await self.one(Random(seed), seed)

    async def one(self, random: Random, seed: int) -> None:
        """One way, which must end in a refusal and without a connection."""
        way, url, answers = random.choice((_direct, _redirected, _rebinding, _mixed))(random)
        reached: list[str] = []

        async def resolve(host: str, port: int) -> Sequence[str]:
            if host in answers:
                left = answers[host]
                return left.pop(0) if len(left) > 1 else left[0]
            return await _as_the_system_reads_it(host, port)

        async def dial(address: str, port: int) -> socket.socket:
            if address != PUBLIC:
                reached.append(address)
                raise ConnectionRefusedError
            return await system_dial("127.0.0.1", self.port)

        network = Network(resolve, dial)
        fetcher = Fetcher(network, Domains(frozenset(("*.test",)), frozenset()), False)
        if way == "direct":
            fetcher = Fetcher(network, Domains(frozenset(), frozenset()), False)
        try:
            answer = await fetcher.fetch(url, Wanted())
        except ToolFailure as failure:
            self.counts[f"{way}: {failure.category}"] += 1
        else:
            self.faults.append(f"seed {seed}: {url} gave {answer.content!r}")
        if reached:
            self.faults.append(f"seed {seed}: {url} connected to {reached}")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Redirect to what the path says in hexadecimal digits, as often as it is asked."""
        try:
            path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
            found = _PATH.fullmatch(path)
            status, to = found.groups() if found else ("404", "")
            location = bytes.fromhex(to).decode("latin-1")
            answer = f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\n\r\n"
            writer.write(answer.encode("latin-1"))
            await writer.drain()
        finally:
            writer.close()


_Attempt = tuple[str, str, dict[str, list[Sequence[str]]]]


def _direct(random: Random) -> _Attempt:
    return "direct", f"http://{_spelled(random)}:{random.choice((80, 8080, 443))}/", {}


def _redirected(random: Random) -> _Attempt:
    target = random.choice(("http://{}/latest", "//{}/", "https://{}:8443/", "http:{}/"))
    location = target.format(_spelled(random))
    for _ in range(random.randrange(3)):
        location = f"/{_status(random)}/{location.encode().hex()}"
    return "redirect", _moving(random, location), {"public.test": [[PUBLIC]]}


def _rebinding(random: Random) -> _Attempt:
    answers: list[Sequence[str]] = [[PUBLIC]] * random.randint(1, 3)
    # Redirects to itself, so that its next answers are needed.
    path = "/"
    for _ in range(4):
        path = f"/{_status(random)}/{path.encode().hex()}"
    return "rebinding", f"http://public.test{path}", {"public.test": [*answers, [_address(random)]]}


def _mixed(random: Random) -> _Attempt:
    addresses = [PUBLIC, _address(random)]
    random.shuffle(addresses)
    location = random.choice(("http://mixed.test/", "//mixed.test:81/"))
    answers: dict[str, list[Sequence[str]]] = {"mixed.test": [addresses], "public.test": [[PUBLIC]]}
    url = random.choice((_moving(random, location), "http://mixed.test/"))
    return "mixed answers", url, answers


def _moving(random: Random, location: str) -> str:
    return f"http://public.test/{_status(random)}/{location.encode().hex()}"


def _status(random: Random) -> int:
    return random.choice((301, 302, 303, 307, 308))


def _address(random: Random) -> str:
    """A forbidden address as a resolver gives it."""
    if random.random() < 0.5:
        return str(_inner_v4(random))
    return str(IPv6Address(_embedded(random) if random.random() < 0.5 else _inner_v6(random)))


def _spelled(random: Random) -> str:
    """A forbidden address as a URL may have it."""
    choice = random.random()
    if choice < 0.15:
        return f"[{_inner_v6(random)}]"
    if choice < 0.4:
        return f"[{_embedded(random)}]"
    return random.choice(_SPELLINGS)(random, int(_inner_v4(random)))


def _inner_v4(random: Random) -> IPv4Address:
    network = random.choice(_V4)
    return network[random.randrange(network.num_addresses)]


def _inner_v6(random: Random) -> IPv6Address:
    network = random.choice(_V6)
    return network[random.randrange(network.num_addresses)]


def _embedded(random: Random) -> str:
    number = int(_inner_v4(random))
    flipped = number ^ 0xFFFF_FFFF  # as Teredo has it
    form = random.choice(_EMBEDDINGS)
    return form.format(_groups(number), _groups(flipped))


def _groups(number: int) -> str:
    return f"{number >> 16:x}:{number & 0xFFFF:x}"


def _number(random: Random, value: int) -> str:
    zeros = "0" * random.randrange(4)
    return random.choice((f"{value}", f"0x{zeros}{value:x}", f"0X{value:X}", f"0{zeros}{value:o}"))


def _short(random: Random, number: int) -> str:
    """One to four parts, the last of which takes what is left, each in a base of its own."""
    parts = random.randint(1, 4)
    leading = [(number >> 24 - 8 * place) & 0xFF for place in range(parts - 1)]
    last = number & (0xFFFF_FFFF >> 8 * (parts - 1))
    return ".".join(_number(random, part) for part in (*leading, last))


def _unicode(random: Random, number: int) -> str:
    dotted = str(IPv4Address(number))
    return "".join(
        random.choice(_STOPS)
        if one == "."
        else _DIGITS[int(one) - 1]
        if one != "0" and random.random() < 0.5
        else random.choice((one, chr(0xFF10 + int(one))))
        for one in dotted
    )


def _dotted(random: Random, number: int) -> str:
    return str(IPv4Address(number)) + random.choice(("", "."))


_SPELLINGS: tuple[Callable[[Random, int], str], ...] = (_short, _unicode, _dotted)


async def _as_the_system_reads_it(host: str, port: int) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return [str(sockaddr[0]) for *_, sockaddr in found]
