"""How `simple` speaks: paths relative to the project; text back, and `isError` only when there is one."""

from collections.abc import Mapping

from holdfast.tool.dialect import Dialect, Spot
from holdfast.vocabulary.errors import HoldfastError, InvalidPath, Outside
from holdfast.vocabulary.outcome import Answer
from holdfast.workspace.mount import Mount
from holdfast.workspace.paths import clean, inside


def locate(text: str, mounts: Mapping[str, Mount]) -> Spot:
    """A path relative to the project."""
    path, project = clean(text), mounts["project"]
    if path.startswith("/"):
        for root in (str(project.root), str(project.given_root)):
            if path == root or path.startswith(f"{root}/"):
                raise InvalidPath(f"'{path}' is absolute", hint=f"Write '{path[len(root) :].strip('/') or '.'}'.", path=path)
        raise Outside(f"path '{path}' resolves outside the project root", hint="Use a path relative to the project.", path=path)
    if path.startswith("@project"):
        raise InvalidPath(f"'{path}' is not how paths are written here", hint=f"Write '{path[len('@project/') :] or '.'}'.", path=path)
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
