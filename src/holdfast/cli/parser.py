"""The arguments that several commands share."""

import argparse
import sys
from typing import NoReturn

from . import EXIT_USAGE


class Parser(argparse.ArgumentParser):
    """An argument parser that leaves with our own code for a wrong usage."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and how it should be."""
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n")


def add_project_arguments(parser: argparse.ArgumentParser) -> None:
    """Which folder, which mounts, which run, which profile."""
    parser.add_argument("--project", default=".", metavar="DIR", help="the project's folder (default: the current one)")
    parser.add_argument("--mount", action="append", default=[], metavar="NAME=DIR[:ro]", help="one more folder, as @NAME")
    parser.add_argument("--run", default="", metavar="ID", help="which run's @state is meant")
    parser.add_argument("--profile", metavar="NAME", help="only the tools of this profile (`holdfast profile list`)")


def parse_mounts(parser: argparse.ArgumentParser, given: list[str]) -> dict[str, str]:
    """The mounts by name."""
    mounts: dict[str, str] = {}
    for text in given:
        name, equals, folder = text.partition("=")
        if not equals or not name or not folder:
            parser.error(f"--mount {text}: write NAME=DIR or NAME=DIR:ro")
        mounts[name] = folder
    return mounts
