"""The command line: one module per command, imported only when it is used."""

import os
import sys
from collections.abc import Sequence

COMMANDS = {
    "run": "have a model work on the project, and watch it",
    "serve": "serve the project in a folder: REST, WebSockets",
    "models": "list the models that there are, and which one is used",
    "sessions": "list, show, rename and delete conversations with models",
    "call": "call a tool and print its result",
    "tools": "list the tools that there are",
    "profile": "list, show and check profiles: what agents are",
    "history": "list the versions of a file",
    "diff": "show what changed between two versions of a file",
    "restore": "bring an old version of a file back",
    "undelete": "bring a deleted file back, or list what can be",
    "undo": "take back all that a call did to files",
    "workspace": "make workspaces, and let people in",
    "user": "add people who may sign in",
    "token": "make a bearer token for a user",
    "config": "show every setting, and where it came from",
    "doctor": "look at this machine: what is there, what is missing, how to get it",
}

# argparse would leave with 2, which here means that a call was refused.
EXIT_USAGE = 64


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            return _obey(words)
        finally:
            # Here and not at the very end, where nobody could say that nobody listens any more.
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _obey(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0 if words else EXIT_USAGE
    if words[0] in ("-V", "--version"):
        from holdfast import __version__

        print(f"holdfast {__version__}")
        return 0
    if words[0] not in COMMANDS:
        print(f"holdfast: there is no command '{words[0]}'. The commands are: {', '.join(COMMANDS)}.", file=sys.stderr)
        return EXIT_USAGE
    return _run(words[0], words[1:])


def _run(command: str, words: list[str]) -> int:
    from importlib import import_module

    from holdfast.vocabulary.errors import HoldfastError

    try:
        return import_module(f"holdfast.cli.{command}").main(words)
    except HoldfastError as error:
        from .visible import visible

        print(visible(f"holdfast: {error}"), file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return 130


def _help() -> str:
    listed = "\n".join(f"  {name:<10} {summary}" for name, summary in COMMANDS.items())
    about = "Tools for language models, confined and recorded."
    return f"usage: holdfast COMMAND …\n\n{about}\n\n{listed}\n\n'holdfast COMMAND --help' says more."
