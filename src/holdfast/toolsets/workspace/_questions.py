"""What a question to the person must be like."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

import jsonschema_rs

from holdfast.vocabulary.errors import InvalidArguments, Mistake
from holdfast.vocabulary.json import Json, JsonObject

QUESTIONS: Final[JsonObject] = {
    "type": "array",
    "minItems": 1,
    "maxItems": 4,
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "The name of the answer; each question has its own."},
            "question": {"type": "string", "minLength": 1, "description": "What to ask, short and specific."},
            "schema": {"type": ["string", "object"], "description": "A JSON Schema for the answer, as an object or as JSON text."},
            "buttons": {
                "type": ["array", "null"],
                "items": {
                    "type": "object",
                    "properties": {"label": {"type": "string"}, "value": {"type": ["string", "number", "boolean"]}},
                    "required": ["label", "value"],
                },
                "description": "A button for each choice, where one of several is chosen.",
            },
        },
        "required": ["name", "question", "schema"],
    },
}


def checked(questions: Sequence[Mapping[str, Json]]) -> list[JsonObject]:
    """The questions as they are asked, with their schemas as objects.

    Raises:
        InvalidArguments: A schema is none, two answers would have the same name, or there are buttons where several may be chosen.
    """
    asked: list[JsonObject] = []
    mistakes: list[Mistake] = []
    for position, question in enumerate(questions):
        where = f"questions.{position}"
        schema, problem = _schema(question["schema"])
        if problem:
            mistakes.append(Mistake(f"{where}.schema", problem))
        buttons = question.get("buttons")
        if buttons and "array" in _types(schema):
            mistakes.append(Mistake(f"{where}.buttons", "cannot be there when several may be chosen"))
        if any(question["name"] == other["name"] for other in asked):
            mistakes.append(Mistake(f"{where}.name", f"is there twice: {question['name']}"))
        shown: dict[str, Json] = {"name": question["name"], "question": question["question"], "schema": schema}
        asked.append({**shown, "buttons": buttons} if buttons else shown)
    if mistakes:
        raise InvalidArguments(mistakes)
    return asked


def _schema(given: Json) -> tuple[JsonObject, str | None]:
    """The schema as an object, and what is wrong with it."""
    try:
        schema: object = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return {}, "is not JSON"
    if not isinstance(schema, Mapping):
        return {}, "is not a JSON object"
    said = cast("JsonObject", schema)
    try:
        # Offline, because a reference could otherwise have us fetch any address or file.
        jsonschema_rs.validator_for(dict(said), offline=True)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as error:
        return said, f"is not a valid JSON Schema: {str(error).partition(chr(10))[0][:200]}"
    return said, None


def _types(schema: JsonObject) -> Iterator[Json]:
    kind = schema.get("type")
    yield from kind if isinstance(kind, Sequence) and not isinstance(kind, str) else [kind]
