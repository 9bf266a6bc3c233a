"""Whether a call may run, judged by what it wants to touch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from holdfast.vocabulary.access import FileAccess, MountMode, Want
from holdfast.vocabulary.decision import Allow, Ask, Decision, Deny
from holdfast.vocabulary.errors import Forbidden, HoldfastError, NotPermitted, Outside, Protected, ReadOnly
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.protected import ProtectedPaths
from holdfast.vocabulary.scope import Permission, Scope
from holdfast.vocabulary.trust import Trust, When

from .trust import AskAboutEffects, AskBefore, NoQuestion, ToolFacts, question

# Records of what was done are not for those whose doings they record.
UNWRITABLE = (("state", "logs"), ("state", "outputs"))
_LEAVE_PLAN_MODE = "Write a .plan file, ask the person to accept it, then leave plan mode."


@dataclass(frozen=True)
class Rules:
    """What holds for every call of a workspace."""

    protected: ProtectedPaths = field(default_factory=ProtectedPaths)
    writes_protected: bool = False


@dataclass(frozen=True)
class Asking:
    """Somebody can be asked about a call: what matters of it, and what the session and its profile say."""

    facts: ToolFacts
    trust: Trust
    when: When


@dataclass(frozen=True)
class Circumstances:
    """What else matters: whether the toolset may read what is protected, the session's mode, whether it is a plan that is written,
    whether files change that are not named, whether the tool is dangerous, and whether the caller may use such tools. Without `asking`
    nobody is asked, and what may run runs.
    """

    reads_protected: bool = False
    mode: Mode = Mode.BUILD
    writes_plan: bool = False
    changes_unnamed: bool = False
    is_dangerous: bool = False
    may_endanger: bool = True
    asking: Asking | None = None


def decide(tool: str, accesses: Sequence[FileAccess], scope: Scope | None, rules: Rules, circumstances: Circumstances) -> Decision:
    """Allow a call, deny it, or have a person asked, with the reason. Only what may run is asked for."""
    permission = Permission() if scope is None else scope.permission(tool)
    if permission is None:
        return Deny(NotPermitted(f"this profile does not permit {tool}", hint="Use one of the tools that you were given.", tool=tool))
    if circumstances.is_dangerous and not circumstances.may_endanger:
        hint = "Ask an owner for the scope tools:dangerous."
        return Deny(Forbidden(f"{tool} changes things, and you may only look", hint=hint, tool=tool))
    if circumstances.changes_unnamed and circumstances.mode is Mode.PLAN:
        return Deny(NotPermitted(f"in plan mode only plans change, so {tool} does nothing", hint=_LEAVE_PLAN_MODE, tool=tool))
    for access in accesses:
        error = _objection(access, permission, rules, circumstances)
        if error is not None:
            return Deny(error)
    return _asked(circumstances.asking, permission.timeout_seconds)


def objection_to_item(
    access: FileAccess, tool: str, scope: Scope | None, rules: Rules, circumstances: Circumstances
) -> HoldfastError | None:
    """Why one item of a list may not be touched; the others may all the same."""
    decision = decide(tool, [access], scope, rules, circumstances)
    return decision.error if isinstance(decision, Deny) else None


def permitted_files(tool: str, scope: Scope | None) -> Callable[[str], bool] | None:
    """Which files a call of this tool may look into on its own, where the scope says it by globs."""
    permission = scope.permission(tool) if scope is not None else None
    return (lambda path: _is_permitted(path, permission.paths)) if permission is not None and permission.paths else None


def _asked(asking: Asking | None, seconds: float | None) -> Allow | Ask:
    if asking is None:
        return Allow(seconds)
    match question(asking.facts, asking.trust, asking.when):
        case NoQuestion():
            return Allow(seconds)
        case AskBefore(reason, with_diff):
            return Ask(reason, seconds, with_diff)
        case AskAboutEffects(reason):
            return Allow(seconds, about_effects=reason)


def _objection(access: FileAccess, permission: Permission, rules: Rules, circumstances: Circumstances) -> HoldfastError | None:
    where = {"mount": access.mount, "path": access.path}
    if access.only is not None and access.mount != access.only:
        return Outside(f"'{access.written}' is outside @{access.only}, where alone this works", hint=f"Use @{access.only}/…", **where)
    if access.want is Want.WRITE and access.mode is MountMode.READ_ONLY:
        return ReadOnly(f"@{access.mount} is read-only, so '{access.written}' cannot be changed", hint="Write in another mount.", **where)
    if access.want is Want.WRITE and _is_unwritable(access):
        return Protected(f"'{access.written}' is a record that tools cannot write", hint="Write elsewhere.", **where)
    if permission.paths and not _is_permitted(access.path, permission.paths):
        allowed = ", ".join(permission.paths)
        return NotPermitted(f"this profile does not permit '{access.written}' here", hint=f"Permitted are: {allowed}.", **where)
    if access.want is Want.WRITE and circumstances.mode is Mode.PLAN and not (circumstances.writes_plan and access.path.endswith(".plan")):
        return NotPermitted(f"in plan mode only plans change, so '{access.written}' stays as it is", hint=_LEAVE_PLAN_MODE, **where)
    may_touch = rules.writes_protected if access.want is Want.WRITE else circumstances.reads_protected
    if not may_touch and any(rules.protected.covers(path, mount=access.mount) for path in (access.path, access.named)):
        verb = "written" if access.want is Want.WRITE else "read"
        hint = "It may hold secrets or machinery; ask the person to do it."
        return Protected(f"'{access.written}' is protected and cannot be {verb} by a tool", hint=hint, **where)
    return None


def _is_unwritable(access: FileAccess) -> bool:
    paths = (access.path.casefold(), access.named.casefold())
    return any(access.mount == mount and any(path == top or path.startswith(f"{top}/") for path in paths) for mount, top in UNWRITABLE)


def _is_permitted(path: str, patterns: Sequence[str]) -> bool:
    from wcmatch import glob

    # With a slash behind it, so that `src/**` lets the folder itself be listed and searched.
    flags = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE
    return any(glob.globmatch(each, list(patterns), flags=flags) for each in (path, f"{path}/"))
