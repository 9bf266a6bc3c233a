"""The whole door as one ASGI application."""

from functools import partial

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from holdfast import __version__
from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, Mistake, NotFound
from holdfast.vocabulary.statuses import INTERNAL, TOO_LARGE, VALIDATION, status_of

from .approvals import approval_routes
from .chat import Chat, Writer
from .door import COOKIE, Door
from .files import file_routes
from .guard import Asgi, Guard
from .health import health_routes
from .openapi import describe
from .prompt import Prompt
from .providers import provider_routes
from .reference import STYLE, reference
from .replies import Receive, Scope, Send, error_body, fault_body
from .sessions import session_routes
from .talks import Sockets
from .tools import ADDRESS, ToolsAddress
from .workspaces import workspace_routes

API = "/api/v1"
_DOCS, _STYLE = "/docs", "/docs/style.css"

_PAGE = """<!doctype html><meta charset="utf-8"><title>Holdfast</title>
<h1>Holdfast is running</h1><p>The addresses and their bodies: <a href="/docs">/docs</a></p>"""


def build(door: Door) -> Guard:
    """The application: the tools' address first, everything else through FastAPI, the guard around both."""
    app = FastAPI(
        title="Holdfast",
        version=__version__,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for routes in (workspace_routes(door), session_routes(door), approval_routes(door), file_routes(door), provider_routes(door)):
        app.include_router(routes, prefix=API)
    app.include_router(health_routes(door))
    app.add_exception_handler(HoldfastError, _told)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _broke)
    app.openapi = lambda: describe(app)
    _add_page(app, door)
    sockets = Sockets(door, {"/ws/chat": partial(Chat, Writer()), "/ws/prompt": Prompt})
    return Guard(_Switch(app, ToolsAddress(door), sockets), door.settings)


class _Switch:
    """The busiest address goes straight to its place, and so do sockets."""

    def __init__(self, others: Asgi, tools: ToolsAddress, sockets: Sockets) -> None:
        self._others = others
        self._tools = tools
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and (found := ADDRESS.fullmatch(scope["path"])):
            await self._tools(scope, receive, send, found[1])
        elif scope["type"] == "websocket":
            await self._sockets(scope, receive, send)
        else:
            await self._others(scope, receive, send)


def _add_page(app: FastAPI, door: Door) -> None:
    @app.get("/", include_in_schema=False)
    async def page(token: str | None = None) -> Response:  # pyright: ignore[reportUnusedFunction] - the framework calls it
        """The front page; a one-time token in the address becomes a cookie, and leaves the address."""
        if token is None:
            return HTMLResponse(_PAGE)
        answer = RedirectResponse("/", status_code=303)
        access = door.one_time.pop(token, None)
        if access is not None:
            answer.set_cookie(COOKIE, access, httponly=True, samesite="strict", path="/")
        return answer

    @app.get(_DOCS, include_in_schema=False)
    async def docs() -> Response:  # pyright: ignore[reportUnusedFunction] - the framework calls it
        """What there is, for people."""
        return HTMLResponse(reference(app.openapi(), style=_STYLE, address=f"{API}/openapi.json"))

    @app.get(_STYLE, include_in_schema=False)
    async def style() -> Response:  # pyright: ignore[reportUnusedFunction] - the framework calls it
        """How it looks."""
        return Response(STYLE, media_type="text/css")


async def _told(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HoldfastError)
    status = status_of(error.code)
    headers = {"Retry-After": "1"} if status.number == 503 else {"WWW-Authenticate": "Bearer"} if status.number == 401 else None
    return JSONResponse(error_body(error), status.number, headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    mistakes = [Mistake(".".join(str(step) for step in each["loc"][1:]), str(each["msg"])) for each in error.errors()]
    return await _told(request, InvalidArguments(mistakes, hint="Correct the request and send it again."))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return await _told(request, NotFound("there is no such address", hint="See /docs."))
    if error.status_code == 405:
        methods = ", ".join(_methods(request))
        body = {
            "success": False,
            "error": f"this address does not take {request.method}. It takes: {methods}.",
            "code": "METHOD_NOT_ALLOWED",
        }
        return JSONResponse(body, 405, {"Allow": methods})
    code = TOO_LARGE.code if error.status_code == TOO_LARGE.number else VALIDATION.code
    return JSONResponse({"success": False, "error": str(error.detail), "code": code}, error.status_code, error.headers)


def _methods(request: Request) -> list[str]:
    """What the address takes; each method has a route of its own, and the framework would name only the first."""
    paths: dict[str, dict[str, object]] = request.app.openapi()["paths"]
    asked = request.url.path.split("/")
    found = [methods for path, methods in paths.items() if _fits(path.split("/"), asked)]
    return sorted(method.upper() for methods in found for method in methods) or ["GET"]


def _fits(template: list[str], asked: list[str]) -> bool:
    pairs = zip(template, asked, strict=False)
    return len(template) == len(asked) and all(part == given or part.startswith("{") for part, given in pairs)


async def _broke(request: Request, _error: Exception) -> Response:
    """The framework raises it again after this, and the guard writes it down."""
    return JSONResponse(fault_body(request.scope), INTERNAL.number)
