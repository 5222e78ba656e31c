"""A provider: its name, its settings, its operations (P32).

provider = Provider("greeter")

@provider.data_source()
async def greet(ctx: Context[None], name: str) -> Greeting:
    '''Say hello.'''
    return Greeting(f"Hello, {name}!")

if __name__ == "__main__":
    provider.serve()
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Concatenate, Generic, Literal, NoReturn, ParamSpec, TypeVar, overload

from pluggableharness.sdk.context import Context
from pluggableharness.sdk.failures import DeclarationError
from pluggableharness.sdk.hooks import Handler, HookEvent, HookMode, HookPoint, hook_problems
from pluggableharness.sdk.operation import NAME, NAME_RULE, Operation, OperationKind, Risk, Traits
from pluggableharness.sdk.settings import SettingsReader

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
H = TypeVar("H")
HookFunction = Callable[[HookEvent[S]], Coroutine[Any, Any, H]]


class Provider(Generic[S]):
    """What one plugin process offers.

    What is wrong with its declarations is told when it is served, tested or asked for its
    operations, and all of it at once (P2). `secrets` are those that a bridge was given otherwise
    than by settings: they are masked as well (P31).
    """

    secrets: tuple[str, ...] = ()

    @overload
    def __init__(self: Provider[None], name: str, *, version: str | None = None) -> None: ...

    @overload
    def __init__(self, name: str, *, settings: type[S], version: str | None = None) -> None: ...

    def __init__(
        self, name: str, *, settings: type[S] | None = None, version: str | None = None
    ) -> None:
        """Name the provider.

        `settings` is a dataclass that becomes the ConfigSchema (P28). `version` defaults to
        that of the distribution that the calling module belongs to.
        """
        self.name = name
        self.module = _module_of_caller()
        self._problems = [] if NAME.fullmatch(name) else [NAME_RULE]
        self.settings = SettingsReader(settings, self._problems)
        self._operations: dict[str, Operation[..., Any]] = {}
        self.hooks: dict[tuple[HookPoint, HookMode], Handler] = {}
        self._version = version

    def data_source(
        self,
        *,
        name: str | None = None,
        safe: bool = True,
        key_fields: Sequence[str] = (),
        streaming: bool = False,
        default_timeout: float | None = None,
        idempotent: bool = False,
    ) -> Callable[[Callable[Concatenate[Context[S], P], Coroutine[Any, Any, R]]], Operation[P, R]]:
        """Declare an operation that only reads; it runs without a gate, and beside others (P5)."""
        return self._declare(
            name,
            Traits(
                OperationKind.DATA_SOURCE,
                Risk.READ_ONLY,
                streaming=streaming,
                safe=safe,
                key_fields=tuple(key_fields),
                default_timeout=default_timeout,
                idempotent=idempotent,
            ),
        )

    def resource(
        self,
        *,
        risk: Literal["low", "moderate", "high", "critical"],
        name: str | None = None,
        safe: bool = False,
        key_fields: Sequence[str] = (),
        streaming: bool = False,
        default_timeout: float | None = None,
        idempotent: bool = False,
        terminates_turn: bool = False,
    ) -> Callable[[Callable[Concatenate[Context[S], P], Coroutine[Any, Any, R]]], Operation[P, R]]:
        """Declare an operation that changes something; it is gated, and runs alone (P5).

        `risk` is low, moderate, high or critical. `safe` with `key_fields` lets calls run
        beside each other whose values of these parameters differ. `idempotent` says that a
        repeat cannot end in another state.
        """
        return self._declare(
            name,
            Traits(
                OperationKind.RESOURCE,
                risk,
                streaming=streaming,
                safe=safe,
                key_fields=tuple(key_fields),
                default_timeout=default_timeout,
                idempotent=idempotent,
                terminates_turn=terminates_turn,
            ),
        )

    def interactive(
        self,
        *,
        name: str | None = None,
        streaming: bool = False,
        default_timeout: float | None = None,
    ) -> Callable[[Callable[Concatenate[Context[S], P], Coroutine[Any, Any, R]]], Operation[P, R]]:
        """Declare an operation that waits for a person; such calls run one by one (P4)."""
        return self._declare(
            name,
            Traits(
                OperationKind.INTERACTIVE,
                Risk.READ_ONLY,
                streaming=streaming,
                default_timeout=default_timeout,
            ),
        )

    def hook(
        self, point: HookPoint, *, mode: HookMode
    ) -> Callable[[Callable[[HookEvent[S]], Coroutine[Any, Any, H]]], HookFunction[S, H]]:
        """Declare what is to be called at a point, once the configuration subscribes it (K25).

        The function takes a `HookEvent`. With mode observe its result is ignored; veto returns
        True for no objection and False to forbid; transform, at pre-model-call alone, returns
        the messages as the model is to read them. An exception is the failure of the mode: for
        a veto it forbids.
        """

        def decorate(
            function: Callable[[HookEvent[S]], Coroutine[Any, Any, H]],
        ) -> HookFunction[S, H]:
            self._problems += hook_problems(function, point, mode)
            if (point, mode) in self.hooks:
                self._problems.append(f"hook {mode} at {point} is declared twice")
            self.hooks[point, mode] = function
            return function

        return decorate

    def _declare(
        self, name: str | None, traits: Traits
    ) -> Callable[[Callable[Concatenate[Context[S], P], Coroutine[Any, Any, R]]], Operation[P, R]]:
        def decorate(
            function: Callable[Concatenate[Context[S], P], Coroutine[Any, Any, R]],
        ) -> Operation[P, R]:
            operation = Operation(function, name, traits, self._problems)
            if operation.name in self._operations:
                self._problems.append(f"operation {operation.name!r} is declared twice")
            self._operations[operation.name] = operation
            return operation

        return decorate

    @property
    def operations(self) -> dict[str, Operation[..., Any]]:
        """The operations by name, in the order of their declaration.

        Raises:
            DeclarationError: with everything that is wrong with any declaration.
        """
        self.check()
        return self._operations

    def check(self) -> None:
        """Raise DeclarationError with everything that is wrong with any declaration (P2)."""
        if self._problems:
            raise DeclarationError(f"provider {self.name!r}", self._problems)

    @property
    def version(self) -> str:
        """The version that Describe tells."""
        return self._version if self._version is not None else _version_of(self.module)

    async def prepare(self) -> None:
        """Do what has to be done before the provider can say what it offers; here, nothing.

        For bridges, which override it: called once, in the loop that serves. A ToolFailure is
        why the provider cannot be loaded.
        """

    def serve(self) -> NoReturn:
        """Serve as a plugin until the host asks to stop, then end the process.

        Started by a person and not by a host, it says on stderr what it is and exits 1.
        """
        # gRPC takes 100 ms to import, and only a served provider needs it: not a test, not a
        # tool that lists what is declared.
        from pluggableharness.sdk.serving import serve

        serve(self)


def _module_of_caller() -> str:
    spec = sys._getframe(2).f_globals.get("__spec__")
    name: str = spec.name if spec else sys._getframe(2).f_globals.get("__name__", "__main__")
    return name.removesuffix(".__main__")


def _version_of(module: str) -> str:
    package = module.partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(version, str):
        return version
    # 60 ms to import, and only a Describe of a package without __version__ needs it.
    from importlib import metadata

    try:
        names: Mapping[str, list[str]] = metadata.packages_distributions()
        return metadata.version(names[package][0])
    except (KeyError, metadata.PackageNotFoundError):
        return "0.0.0"
