"""Where Holdfast keeps its own files."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from holdfast.vocabulary.errors import AccessDenied


def home_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The data folder: `HOLDFAST_HOME`, or the user's usual place for data."""
    environ = os.environ if environ is None else environ
    if named := environ.get("HOLDFAST_HOME"):
        return Path(named).expanduser().absolute()
    data = environ.get("XDG_DATA_HOME") or str(Path(environ.get("HOME") or "~").expanduser() / ".local" / "share")
    return Path(data) / "holdfast"


def make_home(home: Path) -> None:
    """Make the data folder, for its owner alone, unless it is there.

    Raises:
        AccessDenied: The system does not let us.
    """
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        hint = "Set HOLDFAST_HOME to a folder that you can write to."
        raise AccessDenied(f"the data folder {home} cannot be made: {error.strerror}", hint=hint) from error


def workspace_folder(home: Path, project: Path) -> Path:
    """The folder of one project's workspace: a name that a person recognises, made unique by the whole path."""
    true_path = os.path.realpath(project)
    name = re.sub(r"[^\w.-]+", "-", Path(true_path).name)[:40] or "root"
    return home / "workspaces" / f"{name}-{hashlib.sha256(os.fsencode(true_path)).hexdigest()[:12]}"
