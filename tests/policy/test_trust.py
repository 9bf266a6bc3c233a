"""The table of trust: every row and column, why a person is asked, and that no trust permits anything."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.policy.decide import Asking, Circumstances, Rules, decide
from holdfast.policy.trust import AskAboutEffects, AskBefore, NoQuestion, Question, ToolFacts, question, trust_for
from holdfast.vocabulary.access import FileAccess, MountMode, Want
from holdfast.vocabulary.decision import Allow, Ask, Deny
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.profile import Origin, Profile
from holdfast.vocabulary.scope import Permission, Scope
from holdfast.vocabulary.trust import Trust, When
from tests.promises import carries

SUPERVISED, GUIDED, AUTONOMOUS = Trust.SUPERVISED, Trust.GUIDED, Trust.AUTONOMOUS
BEFORE, EFFECTS = When.BEFORE, When.EFFECTS

SAFE = ToolFacts("read")
FILES = ToolFacts("write", is_dangerous=True, changes_files=True)
LAYERED = ToolFacts("bash", is_dangerous=True, is_command=True)
WAYS_OUT = ("the network", "it goes on in the background", "a live mount", "no layer here")
REMOTE = ToolFacts("mcp__mail__send", is_dangerous=True, is_remote=True)
REMOTE_SAFE = ToolFacts("mcp__mail__list", is_remote=True)

NO, ASK, DIFF, LATER = "no", "ask before", "ask before, with diff", "run, ask about effects"

# The table as it was promised: supervised, guided and before, guided and effects, autonomous.
TABLE = [
    (SAFE, (ASK, NO, NO, NO)),
    (REMOTE_SAFE, (ASK, NO, NO, NO)),
    (FILES, (DIFF, DIFF, DIFF, NO)),
    (LAYERED, (ASK, ASK, LATER, NO)),
    *((ToolFacts("bash", is_dangerous=True, is_command=True, channel_out=way), (ASK, ASK, ASK, NO)) for way in WAYS_OUT),
    (REMOTE, (ASK, ASK, ASK, NO)),
]


def said(asked: Question) -> str:
    match asked:
        case NoQuestion():
            return NO
        case AskBefore(_, with_diff):
            return DIFF if with_diff else ASK
        case AskAboutEffects():
            return LATER


@carries("TRUST-1", "TRUST-2", "TRUST-3", "TRUST-4")
@pytest.mark.parametrize(("facts", "expected"), TABLE, ids=lambda each: each.tool if isinstance(each, ToolFacts) else "")
def test_every_row_of_the_table_is_answered_as_promised(facts: ToolFacts, expected: tuple[str, ...]) -> None:
    supervised, before, effects, autonomous = expected

    assert [said(question(facts, SUPERVISED, when)) for when in When] == [supervised, supervised]
    assert said(question(facts, GUIDED, BEFORE)) == before
    assert said(question(facts, GUIDED, EFFECTS)) == effects
    assert [said(question(facts, AUTONOMOUS, when)) for when in When] == [autonomous, autonomous]


@carries("TRUST-2")
@pytest.mark.parametrize("when", When)
def test_what_is_dangerous_in_a_way_of_its_own_is_asked_for(when: When) -> None:
    assert said(question(ToolFacts("new_tool", is_dangerous=True), GUIDED, when)) == ASK


def test_a_safe_call_of_a_command_is_a_safe_call() -> None:
    assert said(question(ToolFacts("look_at_job", is_command=True, channel_out="the network"), GUIDED, BEFORE)) == NO


@carries("TRUST-5")
def test_the_reason_names_the_trust_the_tool_and_the_way_out() -> None:
    reasons = {
        (facts, trust, when): asked.reason
        for (facts, _), trust, when in product(TABLE, Trust, When)
        if not isinstance(asked := question(facts, trust, when), NoQuestion)
    }

    for (facts, trust, when), reason in reasons.items():
        assert trust.value in reason
        assert trust is SUPERVISED or facts.tool in reason
        assert trust is SUPERVISED or facts.channel_out in reason
        assert (trust, facts, when) != (GUIDED, LAYERED, EFFECTS) or "effects" in reason


# What the person, the settings and the profile say of trust


@carries("TRUST-6")
@pytest.mark.parametrize(("usual", "chosen", "origin"), list(product(Trust, (None, *Trust), Origin)))
@pytest.mark.parametrize("own", [None, *Trust])
def test_the_session_comes_first_then_the_profile_then_what_is_usual(
    usual: Trust, chosen: Trust | None, origin: Origin, own: Trust | None
) -> None:
    trust = trust_for(Profile("p", ("core",), trust=own, origin=origin), usual, chosen)

    if chosen is not None:
        assert trust is chosen
    elif own is None:
        assert trust is usual
    elif origin is Origin.PROJECT:
        assert trust is own.at_most(usual)
    else:
        assert trust is own


# In a decision

_paths = st.sampled_from(["a.md", ".env", "docs/a.md", "logs/x", "plans/a.plan", ".git/config"])
_accesses = st.builds(
    FileAccess,
    argument=st.just("path"),
    want=st.sampled_from(Want),
    mount=st.sampled_from(["project", "state"]),
    mode=st.sampled_from(MountMode),
    path=_paths,
    named=_paths,
    written=_paths,
    only=st.sampled_from([None, "state"]),
)
_permissions = st.builds(
    Permission, st.booleans(), st.sampled_from([(), ("docs/**",), ("**",)]), st.sampled_from([None, 120.0])
)  # fmt: skip
_scopes = st.none() | st.builds(Scope, st.dictionaries(st.sampled_from(["a_tool", "other"]), _permissions))
_circumstances = st.builds(
    Circumstances,
    reads_protected=st.booleans(),
    mode=st.sampled_from(Mode),
    writes_plan=st.booleans(),
    is_dangerous=st.booleans(),
    may_endanger=st.booleans(),
)
_facts = st.builds(ToolFacts, st.just("a_tool"), st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.sampled_from(["", "net"]))


@carries("TRUST-7")
@given(st.lists(_accesses, max_size=3), _scopes, _circumstances, _facts, st.sampled_from(Trust), st.sampled_from(When))
def test_no_trust_lets_a_call_run_that_could_not_run_without_it(
    accesses: list[FileAccess], scope: Scope | None, alone: Circumstances, facts: ToolFacts, trust: Trust, when: When
) -> None:
    asked = replace(alone, asking=Asking(facts, trust, when))

    without = decide("a_tool", accesses, scope, Rules(), alone)
    with_trust = decide("a_tool", accesses, scope, Rules(), asked)

    if isinstance(without, Deny):
        assert isinstance(with_trust, Deny)
        assert (with_trust.error.code, with_trust.error.message) == (without.error.code, without.error.message)
    else:
        assert isinstance(without, Allow)
        assert not isinstance(with_trust, Deny)
        assert with_trust.seconds == without.seconds


@carries("TRUST-3")
def test_a_decision_tells_what_is_asked_and_how_long_the_call_may_take_then() -> None:
    scope = Scope({"bash": Permission(timeout_seconds=120), "write": Permission()})

    def decided(facts: ToolFacts, trust: Trust, when: When) -> Allow | Ask | Deny:
        return decide(facts.tool, [], scope, Rules(), Circumstances(is_dangerous=True, asking=Asking(facts, trust, when)))

    before, after = decided(LAYERED, GUIDED, BEFORE), decided(LAYERED, GUIDED, EFFECTS)
    assert isinstance(before, Ask)
    assert (before.seconds, before.with_diff) == (120, False)
    assert isinstance(after, Allow)
    assert after.seconds == 120
    assert after.about_effects
    assert decided(LAYERED, AUTONOMOUS, EFFECTS) == Allow(120)
    written = decided(FILES, GUIDED, EFFECTS)
    assert isinstance(written, Ask)
    assert written.with_diff


@carries("TRUST-8")
def test_where_nobody_can_be_asked_what_may_run_runs() -> None:
    assert decide("bash", [], None, Rules(), Circumstances(is_dangerous=True)) == Allow()
