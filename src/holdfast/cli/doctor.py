"""holdfast doctor: what this machine has, and what is missing."""

import json
from dataclasses import asdict
from pathlib import Path

from holdfast.app import examine

from .parser import Parser
from .visible import visible_line


def main(words: list[str]) -> int:
    """Look at the machine; leave with 1 when something is missing that Holdfast cannot do without."""
    parser = Parser(prog="holdfast doctor", description="Look at this machine: what is there, what is missing, how to get it.")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--project", metavar="DIR", default=".", help="the folder that commands would run in (default: this one)")
    given = parser.parse_args(words)
    if not Path(given.project).is_dir():
        parser.error(f"--project {visible_line(given.project)}: there is no such folder")
    findings = examine(Path(given.project))
    if given.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            sign = "ok     " if finding.is_there else "MISSING" if finding.is_needed else "less   "
            print(visible_line(f"{sign}  {finding.name:<22} {finding.detail}"))
            if not finding.is_there and finding.fix:
                print(visible_line(f"         {'':<22} → {finding.fix}"))
    return 1 if any(finding.is_needed and not finding.is_there for finding in findings) else 0
