"""Which files a search is about, told from their paths alone."""

import re
from fnmatch import translate

from .match import Query
from .names import sayable
from .place import Place
from .sight import Sight


class Filter:
    """The files beneath `top` that the query asks for and that may be seen. Paths are counted from the mount's root."""

    def __init__(self, top: Place, query: Query, sight: Sight) -> None:
        self.top = top
        self.query = query
        self.sight = sight
        self._name = re.compile("|".join(translate(name.casefold()) for name in query.names)).match if query.names else None
        self._places = {top.path: top}

    def accepts(self, path: str) -> bool:
        """Whether the file is asked for and may be seen."""
        return not self.sight.hides(self.top.mount.name, path) and self.asks_for(path)

    def asks_for(self, path: str) -> bool:
        """Whether the file is one that the query wants searched and that the caller is permitted."""
        if not self.sight.permits(path):
            return False
        if self._name is not None and not self._name(path.rpartition("/")[2].casefold()):
            return False
        return self.query.include is None or self.query.include(sayable(path))

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
