"""How searching is set."""

from dataclasses import dataclass

BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"


@dataclass(frozen=True)
class InternetSettings:
    """Where to search. An empty address or no key leaves that provider out; `seconds` is how long one request may take."""

    searxng_url: str = "http://localhost:8080"
    searxng_engines: str = "bing,duckduckgo,brave"
    brave_key: str | None = None
    brave_url: str | None = None
    seconds: float = 10.0
