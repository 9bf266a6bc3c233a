"""Makes `.venv` complete: pip from this machine, everything else by hash from requirements.lock, holdfast itself editable.

It is made in its final place, not renamed into it, because the programs in a virtual environment hold its absolute path. What tells a
finished one from a half-made one is the stamp, written last and taken away first: without a stamp the next set-up starts afresh.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
VENV = CHECKOUT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "complete"

# Debian's package, the command that shows it is there, what is less without it.
SYSTEM_PACKAGES = (("bubblewrap", "bwrap", "commands cannot be confined, so that the tool bash is not offered"),)


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 this file may be run by an older one, to be told so
        sys.exit(f"Holdfast needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}. Try: make PYTHON=python3.12 setup")
    fresh = is_complete()
    if not fresh:
        with open(__file__, "rb") as lock:
            hold(lock.fileno())
            if not is_complete():  # whoever held the lock may have done it all
                complete()
    provide_system_packages()
    print("ready: .venv was complete already" if fresh else "ready: .venv is complete")


def is_complete() -> bool:
    return STAMP.is_file() and STAMP.read_text() == wanted_stamp()


def wanted_stamp() -> str:
    """Where this is, which interpreter it uses, and what it was made from: a moved checkout and a new Python both show."""
    digest = hashlib.sha256()
    for name in ("requirements.lock", "pyproject.toml"):
        digest.update((CHECKOUT / name).read_bytes())
    return f"{CHECKOUT}\n{PYTHON.resolve()}\n{digest.hexdigest()}\n"


def hold(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("another set-up of this checkout is at work; waiting for it", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    os.set_inheritable(lock, True)  # so that a pip that outlives a killed set-up still holds it


def complete() -> None:
    only_outdated = STAMP.is_file() and STAMP.read_text().splitlines()[:2] == wanted_stamp().splitlines()[:2]
    print(f"{'updating' if only_outdated else 'making'} .venv; the first time takes about a minute", flush=True)
    STAMP.unlink(missing_ok=True)
    if not only_outdated:
        run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(VENV)])
    with tempfile.TemporaryDirectory(prefix="holdfast-setup-") as scratch:
        pip = [str(PYTHON), "-I", str(find_pip_wheel(Path(scratch)) / "pip"), "install", "--quiet"]
        run([*pip, "--require-hashes", "-r", "requirements.lock"])
        run([*pip, "--no-deps", "--no-build-isolation", "--editable", "."])
    STAMP.write_text(wanted_stamp())


def find_pip_wheel(scratch: Path) -> Path:
    """A wheel of pip, which runs as it lies; the lock then brings the pip that stays.

    Debian keeps it apart from Python, in a package that an ordinary user can fetch and unpack without installing it.
    """
    ensurepip = find_spec("ensurepip")
    beside_python = [Path(folder, "_bundled") for folder in (ensurepip and ensurepip.submodule_search_locations) or []]
    of_the_system = [Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or "/usr/share/python-wheels")]
    for folder in [*beside_python, *of_the_system]:
        for wheel in folder.glob("pip-*.whl"):
            return wheel
    if shutil.which("apt-get") is None:
        sys.exit("This Python comes without pip's wheel (ensurepip). Install your system's package for it, then run make setup again.")
    return fetch_debians_pip_wheel(scratch)


def fetch_debians_pip_wheel(scratch: Path) -> Path:
    """apt checks the signature; its lists are kept in `scratch`, so that neither root nor an earlier `apt-get update` is needed."""
    for folder in ("lists/partial", "archives/partial"):
        (scratch / folder).mkdir(parents=True)
    apt = ["apt-get", "-qq", "-o", f"Dir::State={scratch}", "-o", "Dir::State::status=/var/lib/dpkg/status", "-o", f"Dir::Cache={scratch}"]
    apt += ["-o", "Acquire::Languages=none", "-o", "APT::Sandbox::User="]
    run([*apt, "update"])
    run([*apt, "download", "python3-pip-whl"], cwd=scratch)
    run(["dpkg-deb", "--extract", *map(str, scratch.glob("*.deb")), str(scratch)])
    return next(scratch.glob("usr/share/python-wheels/pip-*.whl"))


def provide_system_packages() -> None:
    """Install what is missing if that can be done, and say what is less without the rest, and how to get it."""
    why = "" if not missing_packages() else install(missing_packages())
    for package, command, loss in SYSTEM_PACKAGES:
        if shutil.which(command) is None:
            print(f"{package} is missing: {loss}. {why} To get it: {get(package)}")


def missing_packages() -> list[str]:
    return [package for package, command, _ in SYSTEM_PACKAGES if shutil.which(command) is None]


def get(package: str) -> str:
    if shutil.which("apt-get") is None:
        return f"install {package} with your system's packages, then run make setup again."
    return f"{'' if os.geteuid() == 0 else 'sudo '}apt-get install {package}"


def install(packages: list[str]) -> str:
    """Only as root on Debian, and after a failure not again for this .venv: without a network every try takes long.

    What it returns says why not.
    """
    if shutil.which("apt-get") is None:
        return "This is no Debian, so it was not installed."
    if os.geteuid() != 0:
        return "Only root may install it."
    tried = VENV / "tried-to-install"
    if tried.is_file() and tried.read_text() == f"{packages}":
        return "It could not be installed the last time."
    print(f"installing {', '.join(packages)}", flush=True)
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120"]
    wanted = [*apt, "install", "--no-install-recommends", "--yes", *packages]
    if not succeeds(wanted):  # most often because the lists are empty or old
        succeeds([*apt, "update"])
        if not succeeds(wanted):
            tried.write_text(f"{packages}")
            return "apt-get failed to install it."
    print(f"installed {', '.join(packages)}", flush=True)
    return ""


def succeeds(command: list[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.call(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def run(command: list[str], *, cwd: Path = CHECKOUT) -> None:
    environment = {**os.environ, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if subprocess.call(command, cwd=cwd, env=environment, close_fds=False) != 0:
        sys.exit(f"set-up stopped at: {' '.join(command)}\nWhen the cause above is gone, run make setup again: it starts where it must.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
