"""The names of arguments, whatever their spelling."""


def plain_name(name: str) -> str:
    """What all tolerated spellings of an argument's name have in common: `startLine`, `start_line`, `START-LINE`."""
    return name.replace("_", "").replace("-", "").casefold()
