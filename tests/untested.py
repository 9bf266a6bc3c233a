"""Counts the tests that a missing system package leaves out, and says so on the last line; with CI=true that is a failure.

@needs("bubblewrap", "commands run inside it")
async def test_a_command_cannot_see_the_home_folder(desk: Desk) -> None: ...
"""

import os
import shutil
from collections import Counter
from collections.abc import Generator

import pytest

# Debian's package, and the command that shows it is there.
COMMANDS = {
    "bubblewrap": "bwrap",
    "nodejs": "node",
    **{name: name for name in ("bash", "cmake", "g++", "gcc", "git", "make", "npm", "patch", "perl", "sqlite3")},
}

_left_out: Counter[str] = Counter()


def needs(package: str, reason: str) -> pytest.MarkDecorator:
    """Leave the test out, and count it, where Debian's `package` is not installed."""
    if package not in COMMANDS:
        raise LookupError(f"tests/untested.py does not know {package}; add it to COMMANDS with the command that it brings")
    return pytest.mark.needs(package, reason)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(package, reason): the test is left out, and counted, where that package is missing.")
    _left_out.clear()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        package, reason = mark.args
        if shutil.which(COMMANDS[package]) is None:
            item.user_properties.append(("needs", package))  # travels to the controller with the report
            pytest.skip(f"needs {package}: {reason}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "setup":
        _left_out.update(str(package) for name, package in report.user_properties if name == "needs")


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outermost, so that it prints after the reporter's own last line
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    yield
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None or hasattr(session.config, "workerinput") or session.config.getoption("collectonly"):
        return
    terminal.write_line(last_line(_left_out))
    if _left_out and os.environ.get("CI") == "true" and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def last_line(left_out: Counter[str]) -> str:
    """
    >>> last_line(Counter({"bubblewrap": 3, "nodejs": 1}))
    'untested: 3 tests need bubblewrap (apt-get install bubblewrap), 1 test needs nodejs (apt-get install nodejs)'
    """
    lacks = [
        f"{count} {'test needs' if count == 1 else 'tests need'} {package} (apt-get install {package})"
        for package, count in sorted(left_out.items())
    ]
    return "untested: " + (", ".join(lacks) or "nothing")
