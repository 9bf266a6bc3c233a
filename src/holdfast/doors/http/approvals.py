"""What waits for a person's yes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request

from holdfast.dispatch.approvals import shown_approval
from holdfast.vocabulary.errors import Forbidden, NotFound
from holdfast.vocabulary.json import Json

from .door import Door
from .models import Approval, Decision, EffectDiff, KeptPath
from .responses import errors

State = Annotated[str, Query(pattern="^(pending|approved|denied|expired)$")]


def approval_routes(door: Door) -> APIRouter:
    """The routes, bound to the door."""
    routes = APIRouter(prefix="/workspaces/{workspace_id}", tags=["approvals"])

    @routes.get("/approvals", responses=errors(400, 401))
    async def list_approvals(request: Request, workspace_id: str, state: State = "pending") -> list[Approval]:
        """The approvals in a state, the oldest first."""
        await door.member(request.scope, workspace_id)
        agents = await door.platform.agents(workspace_id)
        return [Approval(**shown_approval(each)) for each in await agents.approvals.in_state(state)]

    @routes.post("/approvals/{approval_id}", responses=errors(400, 401, 404, 409))
    async def decide_approval(request: Request, workspace_id: str, approval_id: str, body: Decision) -> Approval:
        """Say yes or no; the first decision counts."""
        identity, may_endanger = await door.caller(request.scope, workspace_id)
        if not may_endanger:
            raise Forbidden("you may not let anything run here that changes things")
        agents = await door.platform.agents(workspace_id)
        decided = await agents.decide(
            approval_id,
            approved=body.approved,
            by=identity.user_id,
            feedback=body.feedback,
            changed=body.input,
            effects_hash=body.effects_hash,
            keep=kept_paths(body.keep),
        )
        return Approval(**shown_approval(decided))

    @routes.get("/approvals/{approval_id}/effects/{number}/diff", responses=errors(401, 404, 409))
    async def get_effect_diff(request: Request, workspace_id: str, approval_id: str, number: int) -> EffectDiff:
        """What one effect changes in its file; `diff` is null for what is not text."""
        await door.member(request.scope, workspace_id)
        approval = await (await door.platform.agents(workspace_id)).approvals.get(approval_id)
        effects = cast("Sequence[Mapping[str, Any]]", approval.effects or ())
        effect = next((each for each in effects if each["n"] == number), None)
        if effect is None:
            raise NotFound("there is no such effect", hint=f"There are {len(effects)}.", approval_id=approval_id)
        if approval.effects_hash is None:
            # They were looked ahead at, and came with the question.
            return EffectDiff(n=number, path=effect["path"], kind=effect["kind"], diff=effect["diff"])
        _, kept_with = cast("tuple[str, Mapping[str, Json]]", approval.keep_call)
        looked_at = {"effects_id": kept_with["effects_id"], "path": effect["path"]}
        found = await door.call(request.scope, workspace_id, "effects", **looked_at)
        return EffectDiff(n=number, path=effect["path"], kind=effect["kind"], diff=found["diff"])

    return routes


def kept_paths(keep: Sequence[KeptPath] | str | None) -> list[str] | None:
    """The paths that are to be kept; None for all."""
    return None if keep is None or isinstance(keep, str) else [each.path for each in keep]
