"""How cat shows text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Shown:
    """Text as it is shown, and how many lines of it."""

    text: str
    lines: int


@dataclass(frozen=True)
class Style:
    """What is made visible."""

    show_ends: bool = False
    show_tabs: bool = False
    squeeze_blank: bool = False
    number_lines: bool = False

    def applied(self, text: str, *, first_line: int) -> Shown:
        """The text as it is shown; `first_line` is the number of its first line in the file, counted from 0."""
        lines = [self._line(line, number) for number, line in self._kept(text, first_line)]
        return Shown("".join(lines), len(lines))

    def _kept(self, text: str, first_line: int) -> Iterator[tuple[int, str]]:
        was_blank = False
        for number, line in enumerate(_LINES.findall(text), first_line + 1):
            is_blank = line in ("\n", "\r\n")
            if not (self.squeeze_blank and is_blank and was_blank):
                yield number, line
            was_blank = is_blank

    def _line(self, line: str, number: int) -> str:
        end = "\n" if line.endswith("\n") else ""
        shown = line.removesuffix("\n")
        if self.show_tabs:
            shown = shown.replace("\t", "^I")
        if self.show_ends:
            shown += "$"
        return f"{number:6}\t{shown}{end}" if self.number_lines else shown + end


def concatenated(texts: Iterable[tuple[str, str]], *, headers: bool) -> str:
    """All the texts, each with its path; with `headers` the path is shown in a line of its own."""
    if not headers:
        return "".join(text for _, text in texts)
    whole = ""
    for path, text in texts:
        gap = "" if not whole else "\n" if whole.endswith("\n") else "\n\n"
        whole += f"{gap}==> {path} <==\n{text}"
    return whole
