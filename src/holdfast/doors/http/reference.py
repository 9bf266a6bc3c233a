"""/docs: every address as a page that needs no script and no other server."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d0d7de; } code, pre { font: 14px/1.45 ui-monospace, monospace; }
summary { cursor: pointer; padding: .35rem 0; } details > div { margin: 0 0 1rem 1.2rem; }
pre { background: #f6f8fa; padding: .8rem; border-radius: 6px; overflow-x: auto; }
b { display: inline-block; min-width: 4.2rem; }
table { border-collapse: collapse; } td { padding: .15rem 1rem .15rem 0; vertical-align: top; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; } pre { background: #161b22; } a { color: #58a6ff; } }
"""
_MAX_DEPTH = 6


def reference(schema: Mapping[str, Any], *, style: str, address: str) -> str:
    """The page of an OpenAPI schema."""
    by_tag: dict[str, list[str]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or ["other"])[0]
            by_tag.setdefault(tag, []).append("".join(_operation(schema, method, path, operation)))
    sections = "".join(f'<h2 id="{escape(tag)}">{escape(tag)}</h2>{"".join(every)}' for tag, every in by_tag.items())
    about = "".join(f"<p>{_words(text)}</p>" for text in schema["info"]["description"].split("\n\n"))
    tags = " · ".join(f'<a href="#{escape(tag)}">{escape(tag)}</a>' for tag in by_tag)
    title = escape(f"{schema['info']['title']} {schema['info']['version']}")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{title}</title><link rel="stylesheet" href="{style}"><h1>{title}</h1>{about}'
        f'<p>The same for programs: <a href="{address}">{address}</a></p><p>{tags}</p>{sections}</html>'
    )


def _operation(schema: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    said = operation.get("description") or operation.get("summary", "")
    yield f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> {_words(said.split('. ')[0])}</summary><div>"
    yield f"<p>{_words(said)}</p>"
    if parameters := operation.get("parameters"):
        rows = "".join(
            f"<tr><td><code>{escape(each['name'])}</code><td>{escape(each['in'])}{', required' if each.get('required') else ''}"
            f"<td>{_words(each.get('description', ''))}"
            for each in parameters
        )
        yield f"<table>{rows}</table>"
    if body := operation.get("requestBody"):
        yield f"<p>Body</p>{_shape(schema, body['content'])}"
    for status, answer in operation["responses"].items():
        yield f"<p>{escape(status)}: {_words(answer['description'])}</p>"
        if status.startswith("2"):
            yield _shape(schema, answer.get("content", {}))
    yield "</div></details>"


def _shape(schema: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    told = content.get("application/json")
    if told is None:
        return ""
    shown = json.dumps(_example(schema, told.get("schema", {})), indent=2, ensure_ascii=False)
    return f"<pre>{escape(shown)}</pre>"


def _example(schema: Mapping[str, Any], part: Mapping[str, Any], depth: int = 0) -> object:
    """Something that has the shape: its own example, or the names of what it holds."""
    if "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rsplit("/", 1)[1]]
    if part.get("examples"):
        return part["examples"][0]
    if depth > _MAX_DEPTH:
        return "…"
    if "properties" in part:
        return {name: _example(schema, each, depth + 1) for name, each in part["properties"].items()}
    if part.get("type") == "array":
        return [_example(schema, part.get("items", {}), depth + 1)]
    choices = part.get("anyOf") or part.get("oneOf")
    if choices:
        return _example(schema, choices[0], depth + 1)
    known = part.get("const") or " | ".join(map(str, part.get("enum", ())))
    return known or part.get("default") or part.get("type", "anything")


def _words(text: str) -> str:
    """Text with what stands between backticks as code."""
    pieces = escape(text).split("`")
    return "".join(piece if at % 2 == 0 else f"<code>{piece}</code>" for at, piece in enumerate(pieces))
