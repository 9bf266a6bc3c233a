"""holdfast config show: every setting, and where it came from."""

import json
import os
import re
from pathlib import Path
from typing import Any

from holdfast.config.settings import TABLE, Setting, load_settings

from .parser import Parser


def main(words: list[str]) -> int:
    """Show the settings; secrets are only said to be there."""
    parser = Parser(prog="holdfast config", description="Settings.")
    actions = parser.add_subparsers(dest="action", required=True)
    show = actions.add_parser("show", help="every setting, and where it came from")
    show.add_argument("--project", default=".", metavar="DIR")
    show.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    settings = load_settings(Path(given.project))
    rows = [{"name": "home", "value": str(settings.home), "source": "HOLDFAST_HOME" if os.environ.get("HOLDFAST_HOME") else "default"}]
    for setting in TABLE:
        found = settings.values[setting.name]
        rows.append({"name": setting.name, "value": _shown(setting, found.value), "source": found.source})
    if given.json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        print(f"{row['name']:<22} {'-' if row['value'] in (None, '') else row['value']!s:<30} {row['source']}")
    return 0


def _shown(setting: Setting, value: Any) -> Any:
    if setting.is_secret and value:
        return "(set)"
    # An address may carry a password.
    return re.sub(r"(?<=://)[^/@]*(?=@)", "(set)", value) if isinstance(value, str) else value
