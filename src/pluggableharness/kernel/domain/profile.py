"""What kind of agent a session is."""

from dataclasses import dataclass, field

from pluggableharness.kernel.domain.bounds import Bounds
from pluggableharness.kernel.domain.model_choice import ModelChoice
from pluggableharness.kernel.domain.operation import Operation


@dataclass(frozen=True, slots=True)
class InstructionsFile:
    """A file of a project that is told to a model.

    `name` is as it is written, relative to `root`, the project's directory; `place` is where it
    is written, for messages.
    """

    name: str
    root: str
    place: str


@dataclass(frozen=True, slots=True)
class Profile:
    """The tools, bounds and reach of a session (K20, K23, K24, F9).

    `tools` are `provider.operation` or `provider.*`; none means no tools, and None means all
    that there are, as for a session without a configuration. `depth` is how many levels of
    sessions may follow below it, `max_concurrent_subagents` how many of its children run at
    once. `models` are tried in order (F10); none means those of the session above. `retries` is
    how often a model is asked again after a fault that passes (K21), and a call made again,
    though never more than twice (P17). `instructions` and then the text of `instructions_file`
    are told to the model beside the history (K1).
    """

    name: str
    tools: tuple[str, ...] | None = ()
    bounds: Bounds = field(default_factory=Bounds)
    depth: int = 0
    max_concurrent_subagents: int = 4
    models: tuple[ModelChoice, ...] = ()
    retries: int = 5
    instructions: str = ""
    instructions_file: InstructionsFile | None = None

    def uses(self, provider: str) -> bool:
        """Whether any operation of the provider is among its tools."""
        return self.tools is None or any(tool.partition(".")[0] == provider for tool in self.tools)

    def has(self, operation: Operation) -> bool:
        """Whether the operation is among its tools."""
        if self.tools is None:
            return True
        return operation.full_name in self.tools or f"{operation.provider}.*" in self.tools


DEFAULT_PROFILE = Profile("default", tools=None, depth=3)
"""That of a session which a person starts without naming one."""
