"""Addresses of providers."""

import ipaddress
from urllib.parse import urlsplit

from holdfast.vocabulary.errors import InvalidSetting


def checked(address: str, setting: str) -> str:
    """The address, when it is one of the web. The words name the setting, because the value may hold a password.

    Raises:
        InvalidSetting: It is none.
    """
    try:
        parts = urlsplit(address.strip())
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidSetting(f"{setting} is not an address", hint="Write it as http://host:port.", setting=setting)
    return address.strip().rstrip("/")


def shown(address: str) -> str:
    """The address for people: without a password, and without what comes after the server's name."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def is_here(address: str) -> bool:
    """Whether it is on this machine, where no proxy leads."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
