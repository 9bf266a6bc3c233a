"""Profiles by their names: the person's own, the shipped ones, and those that come with the project.

They are looked for in that order, so that a name which the person
knows never means what a stranger wrote under it.
"""

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from holdfast.vocabulary.errors import InvalidArguments, InvalidSetting
from holdfast.vocabulary.profile import SHIPPED, Origin, Profile

from .profile_file import KnownTools, read_profile

PERSONS_FOLDER = "profiles"
PROJECTS_FOLDER = ".holdfast/profiles"
# Those of the composition root, which are no profiles of anybody.
TAKEN = ("everything", "safe-only")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_SUFFIX = ".yaml"
_MAX_BYTES = 64 * 1024


@dataclass(frozen=True)
class Listed:
    """One profile that was found. `problem` is why it cannot be used, `hidden_by` whose profile of the same name is used instead."""

    name: str
    origin: Origin
    file: Path | None
    profile: Profile | None = None
    problem: InvalidSetting | None = None
    hidden_by: Origin | None = None


@dataclass(frozen=True)
class ProfileFolders:
    """Where profiles are looked for: the data folder of the person, and the project when there is one."""

    home: Path
    project: Path | None
    known: KnownTools

    def find(self, name: str) -> Profile:
        """The profile of that name.

        Raises:
            InvalidArguments: There is none.
            InvalidSetting: There are mistakes in it.
        """
        for each in self._found():
            if each.name == name:
                return SHIPPED[name] if each.file is None else read_file(each.file, each.origin, self.known)
        names = dict.fromkeys(each.name for each in self._found())
        hint = f"The profiles are: {', '.join(names)}."
        raise InvalidArguments.of("profile", f"there is none called '{name[:60]}'", hint=hint)

    def every(self) -> list[Listed]:
        """Every profile that there is, also those that cannot be used, with the reason."""
        owners: dict[str, Origin] = {}
        found: list[Listed] = []
        for each in self._found():
            profile, problem = SHIPPED.get(each.name) if each.file is None else None, None
            if each.file is not None:
                try:
                    profile = read_file(each.file, each.origin, self.known)
                except InvalidSetting as error:
                    problem = error
            found.append(Listed(each.name, each.origin, each.file, profile, problem, owners.get(each.name)))
            owners.setdefault(each.name, each.origin)
        return found

    def _found(self) -> list[Listed]:
        shipped = [Listed(name, Origin.SHIPPED, None) for name in SHIPPED]
        projects = _files(self.project / PROJECTS_FOLDER, Origin.PROJECT) if self.project is not None else []
        return [*_files(self.home / PERSONS_FOLDER, Origin.PERSON), *shipped, *projects]


def read_file(file: Path, origin: Origin, known: KnownTools) -> Profile:
    """The profile that a file describes; its name is the file's.

    Raises:
        InvalidSetting: It cannot be read, is not named like a profile, or there are mistakes in it.
    """
    name = file.name.removesuffix(_SUFFIX)
    if file.suffix != _SUFFIX or _NAME.fullmatch(name) is None or name in TAKEN:
        hint = "Use letters, digits, '-' and '_', and end it in .yaml."
        raise InvalidSetting(f"{file}: this cannot be the name of a profile", hint=hint, file=str(file))
    if origin is Origin.PROJECT and name in SHIPPED:
        hint = "Give it another; a project's profile never takes the place of a shipped one."
        raise InvalidSetting(f"{file}: '{name}' is the name of a shipped profile", hint=hint, file=str(file))
    return read_profile(_text(file, origin), name=name, origin=origin, file=str(file), known=known)


def origin_of(file: Path) -> Origin:
    """Whose a file is, by where it lies."""
    return Origin.PROJECT if file.absolute().parent.parts[-2:] == Path(PROJECTS_FOLDER).parts else Origin.PERSON


def _files(folder: Path, origin: Origin) -> list[Listed]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InvalidSetting(f"{folder} cannot be read: {error.strerror}", hint="Check its permissions.") from error
    return [Listed(name.removesuffix(_SUFFIX), origin, folder / name) for name in names]


def _text(file: Path, origin: Origin) -> str:
    """What is in a file. One that comes with a project is no link, which could lead anywhere."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if origin is Origin.PROJECT else 0)
    try:
        descriptor = os.open(file, flags)
        with open(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InvalidSetting(f"{file} is not a file", hint="Put a YAML file there.", file=str(file))
            data = opened.read(_MAX_BYTES + 1)
    except OSError as error:
        raise InvalidSetting(f"{file} cannot be read: {error.strerror}", hint="Check what it is.", file=str(file)) from error
    if len(data) > _MAX_BYTES:
        raise InvalidSetting(f"{file} is larger than {_MAX_BYTES} bytes", hint="Write it shorter.", file=str(file))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidSetting(f"{file} is not UTF-8", hint="Save it as UTF-8.", file=str(file)) from error
