"""The whole door as one ASGI application."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from holdfast import __version__
from holdfast.vocabulary.errors import HoldfastError, InvalidArguments, Mistake, NotFound
from holdfast.vocabulary.statuses import INTERNAL, VALIDATION, status_of

from .door import COOKIE, Door
from .files import file_routes
from .guard import Asgi, Guard
from .health import health_routes
from .replies import Receive, Scope, Send, error_body, fault_body
from .sessions import session_routes
from .tools import ADDRESS, ToolsAddress, describe_address
from .workspaces import workspace_routes

API = "/api/v1"

_PAGE = """<!doctype html><meta charset="utf-8"><title>Holdfast</title>
<h1>Holdfast is running</h1><p>The addresses and their bodies: <a href="/docs">/docs</a></p>"""


def build(door: Door) -> Guard:
    """The application: the tools' address first, everything else through FastAPI, the guard around both."""
    app = FastAPI(title="Holdfast", version=__version__, openapi_url=f"{API}/openapi.json", docs_url="/docs", redoc_url=None)
    for routes in (workspace_routes(door), session_routes(door), file_routes(door)):
        app.include_router(routes, prefix=API)
    app.include_router(health_routes(door))
    app.add_exception_handler(HoldfastError, _told)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _broke)
    app.openapi = lambda: _openapi(app)
    _add_page(app, door)
    return Guard(_Switch(app, ToolsAddress(door)), door.settings)


class _Switch:
    """The busiest address goes straight to its place."""

    def __init__(self, others: Asgi, tools: ToolsAddress) -> None:
        self._others = others
        self._tools = tools

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and (found := ADDRESS.fullmatch(scope["path"])):
            await self._tools(scope, receive, send, found[1])
        else:
            await self._others(scope, receive, send)


def _add_page(app: FastAPI, door: Door) -> None:
    @app.get("/", include_in_schema=False)
    async def page(token: str | None = None) -> Response:  # pyright: ignore[reportUnusedFunction]
        """The front page; a one-time token in the address becomes a cookie, and leaves the address."""
        if token is None:
            return HTMLResponse(_PAGE)
        answer = RedirectResponse("/", status_code=303)
        access = door.one_time.pop(token, None)
        if access is not None:
            answer.set_cookie(COOKIE, access, httponly=True, samesite="strict", path="/")
        return answer


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
    code = "METHOD_NOT_ALLOWED" if error.status_code == 405 else VALIDATION.code
    body: dict[str, Any] = {"success": False, "error": str(error.detail), "code": code}
    return JSONResponse(body, error.status_code, error.headers)


async def _broke(request: Request, _error: Exception) -> Response:
    """The framework raises it again after this, and the guard writes it down."""
    return JSONResponse(fault_body(request.scope), INTERNAL.number)


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        describe_address(schema, f"{API}/workspaces/{{workspace_id}}/tools")
        _without_422(schema)
        app.openapi_schema = schema
    return app.openapi_schema


def _without_422(schema: dict[str, Any]) -> None:
    """FastAPI tells of 422 everywhere; our answer to what does not fit is 400."""
    for methods in schema["paths"].values():
        for operation in methods.values():
            operation["responses"].pop("422", None)
