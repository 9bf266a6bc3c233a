"""What waits for a person's yes."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from holdfast.dispatch.approvals import shown_approval
from holdfast.vocabulary.errors import Forbidden

from .door import Door
from .models import Approval, Decision
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
        )
        return Approval(**shown_approval(decided))

    return routes
