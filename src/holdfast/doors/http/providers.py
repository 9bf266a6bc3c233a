"""What can be asked to answer: models, and the profiles that make agents of them."""

from fastapi import APIRouter, Request

from holdfast.app import list_tools, profile_folders
from holdfast.vocabulary.profile import Profile

from .door import Door
from .models import Model, ProfileInfo
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

    @routes.get("/profiles", tags=["profiles"], responses=errors(401))
    async def list_profiles(request: Request, workspace: str | None = None) -> list[ProfileInfo]:
        """The profiles that there are; with a workspace, also those that come with its project."""
        if workspace is None:
            await door.user(request.scope)
            project = None
        else:
            await door.member(request.scope, workspace)
            project = (await door.platform.hold(workspace)).mounts.named["project"].root
        folders = profile_folders(project, home=door.platform.settings.home)
        return [_told(each.name, each.origin.value, each.profile) for each in folders.every() if each.hidden_by is None]

    return routes


def _told(name: str, origin: str, profile: Profile | None) -> ProfileInfo:
    if profile is None:
        return ProfileInfo(name=name, origin=origin, description="", mode=None, trust=None, model=None, tools=[], usable=False)
    return ProfileInfo(
        name=name,
        origin=origin,
        description=profile.description,
        mode=profile.mode.value,
        trust=profile.trust.value if profile.trust else None,
        model=profile.model,
        tools=[tool.name for tool in list_tools(profile)],
        usable=True,
    )
