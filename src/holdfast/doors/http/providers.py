"""GET /models: what can be asked to answer."""

from fastapi import APIRouter, Request

from .door import Door
from .models import Model
from .responses import errors


def provider_routes(door: Door) -> APIRouter:
    """The routes, bound to the door."""
    routes = APIRouter(tags=["models"])

    @routes.get("/models", responses=errors(401))
    async def list_models(request: Request) -> list[Model]:
        """The models of every provider that is configured, and whether each could be reached just now."""
        await door.user(request.scope)
        return [
            Model(
                id=model.ref,
                provider=model.provider,
                context_window=model.context_window,
                supports_tools=model.supports_tools,
                reachable=model.reachable,
            )
            for model in await door.platform.providers.models()
        ]

    return routes
