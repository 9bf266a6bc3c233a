"""What the door tells of itself: every address, every status it may answer with, and an example of each."""

from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from .door import COOKIE
from .models import ToolAnswer, ToolRequest
from .responses import EXAMPLES, errors

_TOOLS = "/api/v1/workspaces/{workspace_id}/tools"
_PUBLIC = ("/healthz", "/readyz")
_ABOUT = """Tools for language models, confined and recorded.

Every error is `{success: false, error, code, fields?, details?}`. Send a token as `Authorization: Bearer …` (it is looked at first) or in
the cookie `access_token`. An answer of 503 has `Retry-After`; every answer has `X-Request-Id`, under which the log tells of it."""
_CALLS = {
    "read": {"summary": "Read a file", "value": {"tool": "read", "args": {"path": "/README.md", "limit": 100}}},
    "write": {"summary": "Write a file", "value": {"tool": "write", "args": {"path": "/notes/hello.md", "content": "# Hello\n"}}},
    "fs.search": {"summary": "A tool of another toolset", "value": {"tool": "fs.search", "args": {"path": "@project", "pattern": "TODO"}}},
}


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI schema of the whole door, made once."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
        _add_tools(schema)
        _add_security(schema)
        for methods in schema["paths"].values():
            for operation in methods.values():
                # FastAPI tells of 422 everywhere; our answer to what does not fit is 400.
                operation["responses"].pop("422", None)
                _add_examples(operation["responses"])
        app.openapi_schema = schema
    return app.openapi_schema


def _add_tools(schema: dict[str, Any]) -> None:
    """Tell of the tools' address, since no framework knows of it."""
    models = {model.__name__: model.model_json_schema(ref_template="#/components/schemas/{model}") for model in (ToolRequest, ToolAnswer)}
    schema["components"]["schemas"].update(models)
    answers: dict[str, Any] = {"200": {"description": "What came of the call.", **_content("ToolAnswer")}}
    for status, told in errors(400, 401, 404, 409, 507).items():
        answers[str(status)] = {"description": told["description"], **_content("ErrorBody")}
    body = _content("ToolRequest")
    body["content"]["application/json"]["examples"] = _CALLS
    schema["paths"].setdefault(_TOOLS, {})["post"] = {
        "tags": ["tools"],
        "summary": "Call Tool",
        "description": "Run any tool of any toolset by its name. What each takes: GET the same address.",
        "operationId": "call_tool",
        "parameters": [
            {"name": "workspace_id", "in": "path", "required": True, "schema": {"type": "string", "title": "Workspace Id"}},
        ],
        "requestBody": {"required": True, **body},
        "responses": dict(sorted(answers.items())),
    }


def _add_security(schema: dict[str, Any]) -> None:
    schema["components"]["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Unsafe methods then need an Origin that is ours."},
    }
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            operation["security"] = [] if path in _PUBLIC else [{"bearer": []}, {"cookie": []}]


def _add_examples(responses: dict[str, Any]) -> None:
    for status, response in responses.items():
        if int(status) in EXAMPLES:
            content = cast("dict[str, Any]", response["content"]["application/json"])
            content["example"] = EXAMPLES[int(status)]


def _content(model: str) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}}}}
