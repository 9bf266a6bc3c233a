"""How `simple` speaks: paths relative to the project; text back, and `isError` only when there is one."""

from collections.abc import Mapping

from holdfast.tool.dialect import Dialect, Spot, spot_of_alias, spot_of_host_path
from holdfast.vocabulary.errors import HoldfastError, InvalidPath, Outside
from holdfast.vocabulary.outcome import Answer
from holdfast.workspace.mount import Mount
from holdfast.workspace.paths import clean, inside


def locate(text: str, mounts: Mapping[str, Mount]) -> Spot:
    """A path relative to the project."""
    path, project = clean(text), mounts["project"]
    meant = spot_of_host_path(path, mounts) if path.startswith("/") else spot_of_alias(path, mounts)
    if meant is not None and meant.mount is project:
        raise InvalidPath(f"'{path}' is not how paths are written here", hint=f"Write '{meant.path or '.'}'.", path=path)
    if meant is not None or path.startswith("/"):
        raise Outside(f"path '{path}' resolves outside the project root", hint="Use a path relative to the project.", path=path)
    return Spot(project, inside(path, written=path))


def answer(value: object) -> Answer:
    """What the tool said."""
    return Answer({"output": str(value)}, str(value))


_HINTS = {"is_directory": "Use list_directory instead.", "not_directory": "Use read_file instead."}


def problem(error: HoldfastError) -> Answer:
    """An error, as text that the model can act on with the tools it has here."""
    hint = _HINTS.get(error.code, error.hint)
    text = f"Error: {error.message}. {hint}" if hint else f"Error: {error.message}"
    return Answer({"output": text, "isError": True}, text, is_error=True)


DIALECT = Dialect(locate, answer, problem)
