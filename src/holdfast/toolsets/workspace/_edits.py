"""The two ways to edit a file, and which of them a caller means."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from holdfast.tool import Content, Context
from holdfast.vocabulary.errors import InvalidArguments, Mistake
from holdfast.workspace.item import Saved
from holdfast.workspace.place import Place
from holdfast.workspace.save import WHOLE, Part

Text: TypeAlias = Annotated[str, Content()]

_HINT = "Give old_string and new_string to replace a text, or insert_line and insert_content to insert lines."


@dataclass(frozen=True)
class Replacement:
    """One text for another."""

    old: str
    new: str


@dataclass(frozen=True)
class Insertion:
    """Lines that come before a line."""

    line: int
    content: str


def meant(
    *, old_string: str | None, new_string: str | None, insert_line: int | None, insert_content: str | None
) -> Replacement | Insertion:
    """The edit that these arguments ask for.

    Raises:
        InvalidArguments: They ask for none, for half of one, or for both.
    """
    replacing = {"old_string": old_string, "new_string": new_string}
    inserting = {"insert_line": insert_line, "insert_content": insert_content}
    given = [name for name, value in (replacing | inserting).items() if value is not None]
    if old_string is not None and new_string is not None and not set(given) & inserting.keys():
        return Replacement(old_string, new_string)
    if insert_line is not None and insert_content is not None and not set(given) & replacing.keys():
        return Insertion(insert_line, insert_content)
    if set(given) & replacing.keys() and set(given) & inserting.keys():
        raise InvalidArguments([Mistake(name, "is of one of two ways to edit, and both were given") for name in given], hint=_HINT)
    wanted = inserting if set(given) & inserting.keys() else replacing
    raise InvalidArguments([Mistake(name, "is required") for name in wanted if name not in given], hint=_HINT)


async def apply(
    ctx: Context, path: Place, edit: Replacement | Insertion, *, only_if: str | None, merge: bool = False, part: Part = WHOLE
) -> Saved:
    """Do the edit, which becomes a version."""
    match edit:
        case Replacement(old, new):
            return await ctx.files.replace_saved(path, old, new, only_if=only_if, merge=merge, part=part)
        case Insertion(line, content):
            return await ctx.files.insert_saved(path, line, content, only_if=only_if, merge=merge, part=part)
