"""What is asked of a server on the web, and what it says."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlencode, urlsplit

from .protocol import Unanswered


@dataclass(frozen=True)
class Address:
    """Where a server is. A name and a password are kept apart from it, so that no message or log can hold them."""

    url: str
    login: tuple[str, str] | None = None

    @property
    def origin(self) -> str:
        """The address without its path, for people."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine, where no proxy leads."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True)
class Question:
    """What is asked of a server; `meanings` say what its refusals mean, by status."""

    address: Address
    params: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    meanings: Mapping[int, str] = field(default_factory=dict[int, str])
    seconds: float = 10.0

    @property
    def url(self) -> str:
        """The address with what is asked."""
        return f"{self.address.url}{'&' if '?' in self.address.url else '?'}{urlencode(self.params)}"


@dataclass(frozen=True)
class Reply:
    """What a server said."""

    status: int
    data: bytes
    kind: str = ""
    retry_after: str = ""


class Passing(Unanswered):
    """What may be over at the next try."""

    pause_seconds: float = 0.0


def parse_address(text: str, setting: str) -> Address:
    """The address that somebody has set.

    Raises:
        Unanswered: It is none of the web. The words name the setting, because the value may hold a password.
    """
    try:
        parts = urlsplit(text.strip())
        _ = parts.port
    except ValueError:
        raise Unanswered(f"{setting} is not an address: write it as http://host:port") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Unanswered(f"{setting} is not an address: write it as http://host:port")
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return Address(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl(), login)
