"""Which tools a caller may see and use."""

from collections.abc import Mapping
from dataclasses import dataclass, field

SAFE_DEFAULTS = ("file_read", "web_search")


@dataclass(frozen=True)
class Permission:
    """What a profile says of one tool: whether, where and how long."""

    allowed: bool = True
    paths: tuple[str, ...] = ()
    timeout_seconds: float | None = None


@dataclass(frozen=True)
class Scope:
    """Exactly the tools of this map; an empty map means the safe defaults."""

    permissions: Mapping[str, Permission] = field(default_factory=dict[str, Permission])

    def permission(self, tool: str) -> Permission | None:
        """What the scope says of a tool, or None when it does not allow it."""
        if not self.permissions:
            return Permission() if tool in SAFE_DEFAULTS else None
        permission = self.permissions.get(tool)
        return permission if permission is not None and permission.allowed else None

    @classmethod
    def of(cls, *tools: str) -> "Scope":
        """A scope that allows exactly these tools, without further conditions."""
        return cls({tool: Permission() for tool in tools})
