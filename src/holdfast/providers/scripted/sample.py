"""The sample project of the demo, which is also in examples/sample-project for people to look at."""

from importlib.resources import files
from pathlib import Path
from typing import cast

from .nodes import compose

_MADE_BY_THE_TOUR = ("docs/languages.txt",)


def sample() -> dict[str, str]:
    """Its files: what each says, by its path."""
    text = files(__package__ or "").joinpath("sample.yaml").read_text("utf-8")
    return cast("dict[str, str]", compose(text, "sample.yaml").json())


def unpack(folder: Path) -> None:
    """Write the sample project to a folder; what a tour has left there is put back to the beginning."""
    for path in _MADE_BY_THE_TOUR:
        (folder / path).unlink(missing_ok=True)
    for path, content in sample().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text("utf-8") != content:
            file.write_text(content, "utf-8")
