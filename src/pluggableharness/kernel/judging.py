"""Policy as it stands in each session of a kernel: rules, grants, terms and reviewers (K4-K10).

Binds what is pure to what a call can only be judged by once somebody has looked: where its paths
lead, which files are believed, who is there to be asked, what a reviewer says.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from pluggableharness.kernel.config.declaration import operation_digest
from pluggableharness.kernel.domain.call import Call
from pluggableharness.kernel.domain.errors import ModelFailed
from pluggableharness.kernel.domain.message import Message, ModelReply, Role, Text
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.domain.quoting import in_quotes
from pluggableharness.kernel.domain.verdict import Opined, Opinion, Review, Verdict
from pluggableharness.kernel.first_party import confined
from pluggableharness.kernel.git.directories import git_directories
from pluggableharness.kernel.git.distrust import distrust
from pluggableharness.kernel.models.reviewer import Doors, Unavailable, ask, unheard
from pluggableharness.kernel.places import located, real_path
from pluggableharness.kernel.plugins.program import answer_of
from pluggableharness.kernel.policy import Asking, Explanation, Terms, explain, opinion, reviewed
from pluggableharness.kernel.session.approvals import Approvals, SessionPolicy, Standing
from pluggableharness.kernel.session.children import Member
from pluggableharness.kernel.session.spending import Charged
from pluggableharness.kernel.setup import Setup

Charge = Callable[[Member, str, ModelReply], None]
"""Files what a reviewer's message cost: for which session, the model's name, the message."""


class Judging:
    """The policies of the sessions that run, over the one set of rules of their kernel."""

    def __init__(self, setup: Setup, charge: Charge) -> None:
        self._setup = setup
        self._charge = charge
        self._confined = confined(setup.providers)
        self._standing = Standing(setup.rules, setup.keep_grant)
        real = (real_path(one) for one in setup.believed)
        self._believed = setup.believed | frozenset(filter(None, real))
        self._approvals: dict[str, Approvals] = {}
        self._policies: dict[str, SessionPolicy] = {}

    def begin(self, member: Member) -> SessionPolicy:
        """The policy of a session that opens: that of its tree, which the root's brings (K23)."""
        root = [member, *member.above][-1].session_id
        approvals = self._approvals.setdefault(root, Approvals(self._standing))
        policy = SessionPolicy(approvals, lambda call: self._terms(self._asking(member), call))
        self._policies[member.session_id] = policy
        return policy

    def of(self, session_id: str) -> SessionPolicy:
        """The policy of a session that runs."""
        return self._policies[session_id]

    def end(self, session_id: str) -> None:
        """Forget what was granted for a session alone."""
        del self._policies[session_id]
        self._approvals.pop(session_id, None)

    def explain(self, call: Call) -> Explanation:
        """How a new session with a person at hand would judge a call, and why (F11)."""
        return explain(self._standing.rules, call, self.terms(call))

    def terms(self, call: Call) -> Terms:
        """Those under which a new session with a person at hand would judge a call (F11)."""
        return self._terms(Asking.PERSON, call)

    async def locate(self, call: Call) -> Call:
        """The call with what the system says of where it would work, in one look (K5a, K7)."""
        return replace(await located(call), distrusted=distrust(call, self._confined))

    async def review(self, member: Member, call: Call, review: Review) -> Verdict:
        """Put a call to its reviewer, whose spend is none of the session's budget (K8)."""
        doors = Doors(partial(self._ask_profile, member), answer_of)
        try:
            return reviewed(review, opinion(await ask(review.reviewer, call, doors)))
        except Unavailable as failure:
            return reviewed(review, Opinion(Opined.UNAVAILABLE, str(failure)))

    async def _ask_profile(self, member: Member, name: str, prompt: str) -> str:
        profile = next((one for one in self._setup.profiles if one.name == name), None)
        if profile is None or self._setup.models is None:
            raise ModelFailed(f"there is no agent profile {in_quotes(name)} that has a model")
        model = self._setup.models(replace(profile, models=profile.models or member.profile.models))
        charged = Charged(model, partial(self._charge, member, model.name))
        said = await charged.reply((Message(Role.USER, (Text(prompt),)),), (), unheard)
        return said.message.text

    def _asking(self, member: Member) -> Asking:
        if member.own_act:
            return Asking.CALLER
        if self._setup.allow_all:
            return Asking.ALLOW_ALL
        return Asking.PERSON if member.frontend.attended else Asking.NOBODY

    def _terms(self, asking: Asking, call: Call) -> Terms:
        believed = self._believed
        if call.operation.kind is Kind.RESOURCE:
            believed |= git_directories(self._setup.working_directory)
        return Terms(asking, self._setup.gate_reads, believed, operation_digest)
