"""The composition root: settings in, a wired Holdfast out."""

from .admin import add_member, add_user, create_token, create_workspace, token_secret
from .holdfast import Holdfast
from .platform import Platform
from .profiles import EVERYTHING, SAFE_ONLY, named_profile, profile_folders
from .projects import find_projects, name_people
from .tools import describe, describe_arguments, describe_tools, examine, is_command, list_tools

__all__ = [
    "EVERYTHING",
    "SAFE_ONLY",
    "Holdfast",
    "Platform",
    "add_member",
    "add_user",
    "create_token",
    "create_workspace",
    "describe",
    "describe_arguments",
    "describe_tools",
    "examine",
    "find_projects",
    "is_command",
    "list_tools",
    "name_people",
    "named_profile",
    "profile_folders",
    "token_secret",
]
