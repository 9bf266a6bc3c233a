"""From the text of arguments to an object, or to an error that says what is wrong with it."""

import pytest

from holdfast.tool.bind import parse
from holdfast.vocabulary.errors import InvalidArguments
from holdfast.vocabulary.json import Json
from tests.promises import carries


@pytest.mark.parametrize("text", ['{"a": 1}', ' {"a": 1}\n', '{"a": 0, "a": 1}'])
def test_text_that_is_a_json_object_is_that_object(text: str) -> None:
    assert parse(text) == {"a": 1}


@pytest.mark.parametrize("text", ["", "  ", "{}"])
def test_no_text_is_no_arguments(text: str) -> None:
    assert parse(text) == {}


def test_an_object_stays_what_it_is() -> None:
    arguments: dict[str, Json] = {"a": [1]}

    assert parse(arguments) is arguments


@carries("FS-HOST-5")
@pytest.mark.parametrize("text", ["[]", "null", "3", '"text"', "true", "[{}]"])
def test_json_that_is_no_object_is_invalid_arguments(text: str) -> None:
    with pytest.raises(InvalidArguments, match="not a JSON object"):
        parse(text)


@carries("FS-HOST-5")
@pytest.mark.parametrize(
    "text", ["{", "{'a': 1}", "{a: 1}", '{"a": 1} x', "\ud800", "[" * 100_000, '{"a":' * 100_000, '{"a": ' + "9" * 5000 + "}", "\0"]
)
def test_text_that_is_no_json_is_invalid_arguments_and_no_crash(text: str) -> None:
    with pytest.raises(InvalidArguments, match="not valid JSON"):
        parse(text)
