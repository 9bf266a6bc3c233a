"""Imports only point down the ladder, and no source file grows too long to read."""

from pathlib import Path

import pytest

from tests.ladder import RUNGS, SOURCE, offences
from tests.promises import carries

SOURCES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))


@carries("TYPE-5", "AC-1")
def test_every_import_points_down_the_ladder() -> None:
    found = [sentence for path in SOURCES for sentence in offences(path, (SOURCE / path).read_text())]

    assert not found, "\n".join(found)


def test_no_source_file_is_longer_than_400_lines() -> None:
    lengths = {path: len((SOURCE / path).read_text().splitlines()) for path in SOURCES}

    too_long = [f"{path} has {length} lines; split it at its seam" for path, length in lengths.items() if length > 400]

    assert not too_long, "\n".join(too_long)


def test_a_rung_may_import_only_rungs_that_exist() -> None:
    assert all(name in RUNGS for rung in RUNGS.values() for name in (*rung.may, *rung.lazily))


def test_no_two_rungs_may_import_each_other() -> None:
    assert not [(above, below) for above, rung in RUNGS.items() for below in rung.may if above in RUNGS[below].may]


ALLOWED = [
    ("toolsets/fs/read.py", "from holdfast.tool import Context, tool"),
    ("toolsets/fs/read.py", "from ._shapes import shown"),
    ("toolsets/fs/read.py", "from holdfast.workspace import Lines, Readable"),
    ("toolsets/fs/read.py", "import re, json"),
    ("cli/serve.py", "def serve() -> None:\n    from holdfast.doors import http"),
    ("cli/serve.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from holdfast.doors.http import serve"),
    ("__init__.py", "def __getattr__(name: str) -> object:\n    from holdfast.app import Holdfast\n    return Holdfast"),
    ("agent/loop.py", "from holdfast.providers.protocol import Provider"),
    ("agent/loop.py", "from holdfast.providers import Provider"),
    ("doors/http/rest.py", "from .websocket import chat"),
    ("doors/http/rest.py", "from starlette.routing import Route"),
    ("cli/version.py", "from holdfast import __version__"),
    ("workspace/patch.py", "from ruamel.yaml import YAML\nimport os"),
]

REFUSED = [
    ("toolsets/fs/read.py", "from holdfast.dispatch.road import travel", "may import only tool, workspace"),
    ("toolsets/fs/read.py", "from ...dispatch import road", "holdfast.dispatch"),
    ("toolsets/fs/read.py", "from holdfast import policy", "may import only"),
    ("toolsets/fs/read.py", "async def read() -> None:\n    import holdfast.store.rows", "may import only"),
    (
        "toolsets/fs/read.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from holdfast.policy import decide",
        "may import only",
    ),
    ("toolsets/fs/read.py", "from importlib import import_module\nroad = import_module('holdfast.dispatch')", "may import only"),
    ("toolsets/fs/read.py", "from holdfast.toolsets.core import _dialect", "must not import one another"),
    ("toolsets/fs/read.py", "from ..core._dialect import shown", "must not import one another"),
    ("toolsets/fs/read.py", "from .. import core", "must not import one another"),
    *(
        ("toolsets/fs/read.py", f"import {name}", "must not import os, pathlib")
        for name in ("os", "os.path", "pathlib", "subprocess", "socket", "httpx", "sqlite3")
    ),
    ("toolsets/fs/read.py", "from os import path", "must not import os, pathlib"),
    ("dispatch/road.py", "from holdfast.toolsets.fs import read", "may import only tool, policy"),
    ("policy/decide.py", "import time", "must not import os, time"),
    ("workspace/read.py", "from holdfast.sandbox import run", "may import only store"),
    ("vocabulary/call.py", "from holdfast.store import rows", "nothing of holdfast"),
    ("agent/loop.py", "from holdfast.providers.anthropic import client", "may import only holdfast.providers"),
    ("agent/loop.py", "from holdfast.providers import openai", "may import only holdfast.providers"),
    ("doors/http/rest.py", "from holdfast.doors.mcp_server import app", "must not import one another"),
    ("doors/http/rest.py", "from ..mcp_server import app", "must not import one another"),
    ("doors/http/rest.py", "from holdfast.workspace import Place", "may import only app, agent"),
    ("cli/serve.py", "from holdfast.doors import http", "only where it is used"),
    ("__init__.py", "from holdfast.app import Holdfast", "only where it is used"),
    ("tool/bind.py", "from holdfast.config import settings", "may import only"),
    ("tool/bind.py", "from holdfast import Holdfast", "no rung of the ladder"),
    ("tool/bind.py", "from holdfast.helpers import most", "no rung of the ladder"),
    ("helpers/most.py", "", "no rung of the ladder"),
    ("tool/bind.py", "import attr_but_undeclared", "nor a declared dependency"),
    ("tool/bind.py", "import hypothesis", "nor a declared dependency"),
]


@pytest.mark.parametrize(("path", "text"), ALLOWED)
def test_an_import_that_points_down_is_allowed(path: str, text: str) -> None:
    assert list(offences(Path(path), text)) == []


@pytest.mark.parametrize(("path", "text", "reason"), REFUSED)
def test_an_import_that_does_not_point_down_is_refused_in_one_sentence(path: str, text: str, reason: str) -> None:
    [sentence] = offences(Path(path), text)

    assert sentence.startswith(path)
    assert reason in sentence
