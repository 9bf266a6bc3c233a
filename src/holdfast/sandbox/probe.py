"""Finding out, by trying it, whether commands of a workspace can be confined; and what to do when not.

It depends on the machine and on both file systems, that of the workspace
and that of the layers. So everything is tried that a command will need:
a layer over each mount, and in a layer of our own a change, a deletion
and a folder put in the place of another.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from holdfast.vocabulary.errors import HoldfastError

from . import chain, discard
from .command import Command, SandboxMount
from .confined import Confined
from .environment import CLEAN
from .ground import NotMapped
from .hands import NoHands
from .lack import Lack
from .layer import Layer
from .seccomp import machines
from .settings import SandboxSettings

_NAME = "holdfast-trial"
_SCRIPT = "echo changed >> a && rm b && rm -r d && mkdir d && echo new > d/y"
_SECONDS = 10

# Shown to commands in part, or as something else.
_OF_THE_SYSTEM = ("/", "/bin", "/dev", "/etc", "/home", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/var")

_OTHER_USER = Lack(
    "the workspace's folder belongs to root, and this kernel or file system cannot show it as somebody else's",
    "run as an ordinary user, or chown the folder",
)


async def probe(mounts: Sequence[SandboxMount], settings: SandboxSettings, *, workspace_id: str) -> tuple[Lack, ...]:
    """What keeps commands of such a workspace from being confined; nothing, when they can be."""
    if lacks := _missing():
        return lacks
    if any(settings.layers.is_relative_to(mount.root) for mount in mounts if mount.writable):
        return (Lack(f"layers are kept in {settings.layers}, inside the workspace", "set HOLDFAST_HOME to a folder outside of it"),)
    if system := [str(mount.root) for mount in mounts if str(mount.root) in _OF_THE_SYSTEM]:
        return (Lack(f"{', '.join(system)} is a folder of the system", "open a folder of the project's own"),)
    settings.layers.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".trial-", dir=settings.layers))
    try:
        return await _try(mounts, settings, workspace_id, folder)
    except NotMapped:
        return (_OTHER_USER,)
    except NoHands:
        return (Lack("this container has no user that a root server could become", "run as an ordinary user"),)
    except (OSError, HoldfastError) as error:
        return (explain(str(error), settings.layers),)
    finally:
        discard.remove(folder)


async def probe_folder(root: Path, settings: SandboxSettings) -> tuple[Lack, ...]:
    """The same for a folder that is no workspace yet."""
    descriptor = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return await probe([SandboxMount("project", root, descriptor, writable=True)], settings, workspace_id=f"probe {root}")
    finally:
        os.close(descriptor)


async def _try(mounts: Sequence[SandboxMount], settings: SandboxSettings, workspace_id: str, folder: Path) -> tuple[Lack, ...]:
    lower = folder / "lower"
    (lower / "d").mkdir(parents=True)
    for name in ("a", "b", "d/x"):
        (lower / name).write_text("old\n")
    descriptor = os.open(lower, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        own = SandboxMount(_NAME, lower, descriptor, writable=True)
        # A disk that is full today is no reason to think that nothing can be confined.
        patient = replace(settings, limits=replace(settings.limits, free_disk_bytes=0))
        confined = await Confined.prepare([*mounts, own], patient, workspace_id)
        try:
            layer = confined.new_layer()
            try:
                finished = await confined.run(Command(_SCRIPT, _SECONDS, (_NAME, ""), environment=CLEAN), layer, lambda _: None)
                said = finished.head.decode(errors="replace").strip()
                return () if finished.exit_code == 0 and _layered(layer, lower) else (explain(said, settings.layers),)
            finally:
                discard.remove(layer.folder)
        finally:
            confined.close()
    finally:
        os.close(descriptor)


def _layered(layer: Layer, lower: Path) -> bool:
    """Whether the command changed the layer, in the way that we read it, and nothing else."""
    upper = layer.upper(_NAME)
    gone = (upper / "b").lstat()
    return (
        (upper / "a").read_text() == "old\nchanged\n"
        and stat.S_ISCHR(gone.st_mode)
        and gone.st_rdev == 0
        and os.getxattr(upper / "d", "user.overlay.opaque") == b"y"
        and sorted(os.listdir(lower)) == ["a", "b", "d"]
        and (lower / "a").read_text() == "old\n"
    )


def _missing() -> tuple[Lack, ...]:
    machine = os.uname().machine
    if machine not in machines():
        return (Lack(f"there is no filter of system calls for {machine}", f"use one of {', '.join(machines())}"),)
    packages = chain.missing_packages()
    if not packages:
        return ()
    install = "apt-get install" if shutil.which("apt-get") else "install with your system's packages:"
    return tuple(Lack(f"{package} is not installed", f"{install} {package}") for package in packages)


def explain(complaint: str, layers: Path) -> Lack:
    """The likely reason of a failure, from what was said and from what the machine is."""
    said = complaint.strip().splitlines()[-1] if complaint.strip() else "nothing was said"
    in_container = _in_container()
    if _sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1" and _is_refusal(complaint):
        return Lack(
            f"AppArmor refuses user namespaces to ordinary programs ({said})",
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        )
    if _sysctl("kernel/unprivileged_userns_clone") == "0":
        return Lack(f"the kernel refuses user namespaces ({said})", "sudo sysctl -w kernel.unprivileged_userns_clone=1")
    if _sysctl("user/max_user_namespaces") == "0":
        return Lack(f"the kernel allows no user namespaces ({said})", "sudo sysctl -w user.max_user_namespaces=10000")
    if "overlay" in complaint and file_system_of(layers) == "overlay":
        volume = f"-v holdfast:{layers.parent}"
        return Lack(f"layers cannot lie on Docker's own overlay ({said})", f"give the container a volume: docker run {volume}")
    if "proc" in complaint and in_container and _is_refusal(complaint):
        return Lack(f"Docker covers parts of /proc ({said})", "docker run --security-opt systempaths=unconfined")
    if in_container and _is_refusal(complaint):
        # Root in a container lacks CAP_SYS_ADMIN; an ordinary user needs no more than that nobody forbids namespaces.
        user = "--user 1000 " if os.geteuid() == 0 else ""
        return Lack(
            f"Docker's seccomp profile refuses namespaces or mounts ({said})",
            f"docker run {user}--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined",
        )
    return Lack(f"a trial failed: {said}", f"check that {layers} is on a local disk, and that the kernel is 5.11 or newer")


def file_system_of(path: Path) -> str:
    """The type of the file system that a path is on."""
    device = path.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    with open("/proc/self/mountinfo") as lines:
        for line in lines:
            before, _, after = line.partition(" - ")
            if before.split()[2] == wanted:
                return after.split()[0]
    return ""


def _in_container() -> bool:
    return os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv")


def _is_refusal(complaint: str) -> bool:
    return "not permitted" in complaint.lower() or "denied" in complaint.lower()


def _sysctl(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""
