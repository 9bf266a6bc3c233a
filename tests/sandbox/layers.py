"""Layers for tests: a script runs in a real overlay over a real folder, without anything else around it."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from holdfast.sandbox.effects import Judge, effects_of
from holdfast.sandbox.layer import Layer
from holdfast.store.uuid7 import uuid7
from holdfast.vocabulary.effects import Effect, Effects
from holdfast.vocabulary.protected import ProtectedPaths

_SCRIPT = """
set -e
mount -t overlay overlay -o "userxattr,lowerdir=$LOWER,upperdir=$UPPER,workdir=$WORK" "$AT"
cd "$AT"
set +e
eval "$SCRIPT"
"""


def new_layer(home: Path, root: Path, mount: str = "project") -> Layer:
    """An empty layer that starts now."""
    layer_id = uuid7()
    layer = Layer(layer_id, home / "layers" / layer_id, {mount: now_on(root)})
    layer.upper(mount).mkdir(parents=True)
    layer.work(mount).mkdir()
    return layer


def now_on(root: Path) -> int:
    """The time of the file system: a stamp that has been looked at is followed by a finer one, which is after all that was there."""
    probe = os.open(root, os.O_TMPFILE | os.O_WRONLY, 0o600)
    try:
        os.fstat(probe)
        os.fchmod(probe, 0o600)
        return os.fstat(probe).st_ctime_ns
    finally:
        os.close(probe)


def run_in_layer(home: Path, root: Path, script: str) -> Layer:
    """The layer that a script leaves, which sees the folder and can change it at will."""
    layer = new_layer(home, root)
    at = layer.folder / "at"
    at.mkdir()
    names = {"LOWER": root, "UPPER": layer.upper("project"), "WORK": layer.work("project"), "AT": at}
    git = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b"))}
    environment = {**os.environ, **{name: str(path) for name, path in names.items()}, **git, "SCRIPT": script, "GIT_OPTIONAL_LOCKS": "0"}
    environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "HOME": str(layer.folder)}
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", _SCRIPT], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return layer


@contextmanager
def lowers_of(root: Path) -> Generator[dict[str, int]]:
    descriptor = os.open(root, os.O_PATH | os.O_DIRECTORY)
    try:
        yield {"project": descriptor}
    finally:
        os.close(descriptor)


def looked_at(layer: Layer, root: Path) -> Effects:
    """What the layer's command did."""
    with lowers_of(root) as lowers:
        return effects_of(layer, lowers, Judge(ProtectedPaths()))


def did(home: Path, root: Path, script: str) -> dict[str, Effect]:
    """What a script does to a folder, by path."""
    return {effect.path: effect for effect in looked_at(run_in_layer(home, root, script), root).every}


def brief(effects: dict[str, Effect]) -> dict[str, str]:
    """The kinds and types of effects, as in `{"a": "changed file"}`."""
    return {path: f"{effect.kind.value} {effect.type.value}" for path, effect in effects.items()}
