"""What a docstring says to the model."""

import pytest

from holdfast.tool.docstring import parse_docstring


def test_a_docstring_of_one_line_is_the_description() -> None:
    assert parse_docstring("Read a file.") == ("Read a file.", {})


def test_no_docstring_is_no_description() -> None:
    assert parse_docstring("") == ("", {})


def test_lines_of_a_paragraph_are_joined_and_paragraphs_are_kept() -> None:
    text = """Read a file,
    or a part of it.

    A second paragraph
    of two lines.
    """

    assert parse_docstring(text) == ("Read a file, or a part of it.\n\nA second paragraph of two lines.", {})


def test_arguments_are_described_one_by_one_and_are_no_part_of_the_description() -> None:
    text = """Read a file.

    Args:
        path: The file: where it is.
        start_line: The first line,
            counted from 1,
            and included.
        empty:
        last: The end.
    """

    assert parse_docstring(text) == (
        "Read a file.",
        {"path": "The file: where it is.", "start_line": "The first line, counted from 1, and included.", "empty": "", "last": "The end."},
    )


@pytest.mark.parametrize("section", ["Returns", "Raises"])
def test_what_follows_the_arguments_is_not_for_the_model(section: str) -> None:
    text = f"""Read a file.

    Args:
        path: The file.

    {section}:
        text: Not an argument.
    """

    assert parse_docstring(text) == ("Read a file.", {"path": "The file."})
