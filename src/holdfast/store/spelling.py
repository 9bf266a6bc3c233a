"""The store's SQL as one database spells it, worked out once per statement."""

import re
from collections.abc import Mapping


class Spelling:
    """Patterns, and what stands in their place."""

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._replacements = [(re.compile(pattern), text) for pattern, text in replacements.items()]
        self._known: dict[str, str] = {}

    def __call__(self, sql: str) -> str:
        known = self._known.get(sql)
        return known if known is not None else self._spell(sql)

    def _spell(self, sql: str) -> str:
        spelt = sql
        for pattern, text in self._replacements:
            spelt = pattern.sub(text, spelt)
        self._known[sql] = spelt
        return spelt
