"""Which files a search is about, told from their paths alone."""

import re
from fnmatch import translate

from .match import Query
from .names import sayable
from .place import Place
from .sight import Sight


class Filter:
    """The files beneath one directory that the query asks for and that may be seen. Paths are counted from the directory."""

    def __init__(self, place: Place, query: Query, sight: Sight) -> None:
        self._mount = place.mount.name
        self._prefix = f"{place.path}/" if place.path else ""
        self._sight = sight
        self._include = query.include
        self._name = re.compile("|".join(translate(name.casefold()) for name in query.names) or "").match
        self._places = {"": place}

    def accepts(self, path: str) -> bool:
        """Whether the file is to be searched."""
        whole = self._prefix + path
        if self._sight.hides(self._mount, whole) or not self._name(path.rpartition("/")[2].casefold()):
            return False
        return self._include is None or self._include(sayable(whole))

    def place(self, path: str) -> Place:
        """The file's place, made name by name; those of directories are kept for the next."""
        names: list[str] = []
        known = path
        while known not in self._places:
            known, _, name = known.rpartition("/")
            names.append(name)
        place = self._places[known]
        while names:
            name = names.pop()
            place = place.child(sayable(name))
            known = f"{known}/{name}" if known else name
            if names:
                self._places[known] = place
        return place
