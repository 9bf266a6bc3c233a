"""Workspaces, and who one is."""

from fastapi import APIRouter, Request, Response

from holdfast.accounts.workspaces import NewRoot
from holdfast.app import EVERYTHING, SAFE_ONLY, describe

from .door import Door
from .models import ChangedWorkspace, NewWorkspace, ToolDefinition, User, Workspace
from .responses import errors


def workspace_routes(door: Door) -> APIRouter:
    """The routes, bound to the door."""
    routes = APIRouter(tags=["workspaces"])
    workspaces = door.workspaces

    @routes.get("/me", responses=errors(401))
    async def me(request: Request) -> User:
        """Who the token belongs to."""
        return User(**vars(await door.user(request.scope)))

    @routes.get("/workspaces", responses=errors(401))
    async def list_workspaces(request: Request) -> list[Workspace]:
        """The workspaces that one is a member of."""
        return [Workspace(**each) for each in await workspaces.of_user((await door.user(request.scope)).id)]

    @routes.post("/workspaces", status_code=201, responses=errors(400, 401, 403, 409))
    async def create_workspace(request: Request, body: NewWorkspace) -> Workspace:
        """Make a workspace and become its owner."""
        user = await door.user(request.scope)
        local = user.id == (await door.platform.local_user()).id
        root = NewRoot(body.root, may_choose=local and not door.settings.is_public)
        return Workspace(**await workspaces.create(user.id, body.name, root))

    @routes.get("/workspaces/{workspace_id}", responses=errors(401, 403))
    async def get_workspace(request: Request, workspace_id: str) -> Workspace:
        """One workspace."""
        await door.member(request.scope, workspace_id)
        return Workspace(**await workspaces.get(workspace_id))

    @routes.patch("/workspaces/{workspace_id}", responses=errors(400, 401, 403))
    async def change_workspace(request: Request, workspace_id: str, body: ChangedWorkspace) -> Workspace:
        """Give a workspace another name."""
        await door.owner(request.scope, workspace_id)
        return Workspace(**await workspaces.rename(workspace_id, body.name))

    @routes.delete("/workspaces/{workspace_id}", status_code=204, responses=errors(401, 403))
    async def delete_workspace(request: Request, workspace_id: str) -> Response:
        """Let nobody find the workspace any more; its files stay where they are."""
        await door.owner(request.scope, workspace_id)
        await workspaces.delete(workspace_id)
        return Response(status_code=204)

    @routes.get("/workspaces/{workspace_id}/tools", tags=["tools"], responses=errors(401, 403))
    async def list_tools(request: Request, workspace_id: str) -> list[ToolDefinition]:
        """The tools that one may call."""
        _, may_endanger = await door.caller(request.scope, workspace_id)
        tools = await door.platform.tools(workspace_id, EVERYTHING if may_endanger else SAFE_ONLY)
        return [ToolDefinition(**each) for each in map(describe, tools) if may_endanger or each["danger"] == "safe"]

    return routes
