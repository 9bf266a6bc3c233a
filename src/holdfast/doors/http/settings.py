"""How the HTTP door is set."""

from dataclasses import dataclass, field

LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")


@dataclass(frozen=True)
class HttpSettings:
    """`hosts` are the names that requests may come under; a name without a port is good with every port."""

    hosts: frozenset[str] = field(default_factory=lambda: frozenset(LOOPBACK))
    max_request_bytes: int = 10 * 1024 * 1024
    token_minutes: int = 15
    is_public: bool = False

    def knows_host(self, host: str) -> bool:
        """Whether the Host header names us."""
        name = host.casefold()
        return name in self.hosts or _without_port(name) in self.hosts


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
