"""The Files API: what the store remembers of a workspace's files. Every address is a call of a tool."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from holdfast.vocabulary.json import Json

from .door import Door
from .models import Restore
from .responses import errors

Path = Annotated[str, Query(max_length=4096, description="A folder, counted from the workspace's root.")]
BYTES = {
    "description": "The bytes; their hash is in X-Content-Sha256.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


def file_routes(door: Door) -> APIRouter:
    """The routes, bound to the door."""
    routes = APIRouter(prefix="/workspaces/{workspace_id}/files", tags=["files"])

    async def call(request: Request, workspace_id: str, tool: str, **arguments: Json) -> Any:
        return await door.call(request.scope, workspace_id, tool, **arguments)

    @routes.get("", responses=errors(400, 401, 404))
    async def list_files(request: Request, workspace_id: str, path: Path = "/", deleted: bool = False) -> dict[str, Any]:
        """The files of a folder, or the deleted ones of the whole workspace."""
        if deleted:
            return await call(request, workspace_id, "list_deleted")
        return await call(request, workspace_id, "ls", path=path, limit=0)

    @routes.get("/{file_id}", responses=errors(401, 404))
    async def get_file(request: Request, workspace_id: str, file_id: str) -> dict[str, Any]:
        """What is known of a file."""
        return await call(request, workspace_id, "describe_file", file_id=file_id)

    @routes.get("/{file_id}/content", responses={**errors(400, 401, 404), 200: BYTES}, response_class=Response)
    async def get_content(request: Request, workspace_id: str, file_id: str, version: str | None = None) -> Response:
        """The bytes of a file, or of one of its versions."""
        content = await call(request, workspace_id, "version_content", file_id=file_id, version_id=version)
        headers = {"x-content-sha256": content["hash"] or "", "content-disposition": "attachment"}
        return Response(base64.b64decode(content["base64"]), media_type="application/octet-stream", headers=headers)

    @routes.get("/{file_id}/versions", responses=errors(401, 404))
    async def list_versions(request: Request, workspace_id: str, file_id: str) -> dict[str, Any]:
        """The versions of a file, the newest first."""
        return await call(request, workspace_id, "history", file_id=file_id)

    @routes.get("/{file_id}/diff", responses=errors(400, 401, 404))
    async def get_diff(
        request: Request,
        workspace_id: str,
        file_id: str,
        before: Annotated[str | None, Query(alias="from")] = None,
        after: Annotated[str | None, Query(alias="to")] = None,
    ) -> dict[str, Any]:
        """What changed from one version to another."""
        return await call(request, workspace_id, "diff", file_id=file_id, from_version=before, to_version=after)

    @routes.post("/{file_id}/restore", responses=errors(400, 401, 404, 409, 507))
    async def restore(request: Request, workspace_id: str, file_id: str, body: Restore) -> dict[str, Any]:
        """Make an old version the newest again."""
        return await call(request, workspace_id, "restore", file_id=file_id, version_id=body.version_id)

    @routes.post("/{file_id}/undelete", responses=errors(401, 404, 409, 507))
    async def undelete(request: Request, workspace_id: str, file_id: str) -> dict[str, Any]:
        """Bring a deleted file back to where it was."""
        return await call(request, workspace_id, "undelete", file_id=file_id)

    return routes
