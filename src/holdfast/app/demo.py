"""The sample project that the demo tours: a copy of its own, so that nobody's project is touched."""

from pathlib import Path

from holdfast.config.home import home_folder
from holdfast.providers.choose import DEMO

DEMO_MODEL = DEMO
TOUR = "show me around"


def demo_project(*, fresh: bool = True) -> Path:
    """Where the copy is, beside the data folder; a fresh one is as the tour expects it to be."""
    home = home_folder()
    folder = home.with_name(f"{home.name}-demo")
    if fresh or not folder.is_dir():
        from holdfast.providers.scripted.sample import unpack

        unpack(folder)
    return folder
