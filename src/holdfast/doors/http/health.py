"""Whether the server lives, and whether it can work."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from .door import Door
from .responses import errors


class Health(BaseModel):
    """All is well."""

    status: Literal["ok"] = "ok"


def health_routes(door: Door) -> APIRouter:
    """The routes, bound to the door."""
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz", responses=errors())
    async def healthz() -> Health:
        """The process lives."""
        return Health()

    @routes.get("/readyz", responses=errors(507))
    async def readyz() -> Health:
        """The database answers, and can be written."""
        await door.platform.check()
        return Health()

    return routes
