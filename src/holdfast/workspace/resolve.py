"""From a path's text to a `Place`: the one gate.

The kernel walks the path beneath the mount's root. Links that stay
inside are followed here, once, and the place holds where they led; what
leads outside is refused.
"""

import errno
import os
import stat

from holdfast.vocabulary.errors import AccessDenied, InvalidPath, NotDirectory, NotFound, Outside

from .kernel import open_beneath
from .mount import Mount
from .names import sayable
from .place import Place, grant_maker
from .pool import here_or_there

_MAKER = grant_maker()


async def resolve(mount: Mount, path: str, *, written: str, follow: bool = True, below_files: bool = False) -> Place:
    """The place of `path`, which is clean and counted from the mount's root, whether or not anything is there.

    With `below_files` this holds for what would be below a file as well.

    Raises:
        Outside: A link on the way leads out of the mount.
        NotDirectory: Something on the way is not a directory.
        NotFound: The path goes through a link that leads nowhere.
        InvalidPath: A link leads to a name that cannot be said.
    """
    return await here_or_there(
        mount.pool, lambda wait: resolve_now(mount, path, written=written, follow=follow, below_files=below_files, wait=wait)
    )


def resolve_now(mount: Mount, path: str, *, written: str, follow: bool = True, below_files: bool = False, wait: bool = True) -> Place:
    """`resolve`, on this thread."""
    try:
        true_path = _true_path(mount, path, follow=follow, below_files=below_files, wait=wait)
    except OSError as error:
        raise _explained(error, written) from error
    if sayable(true_path) != true_path:
        raise InvalidPath(f"'{written}' leads to a name that is not valid UTF-8", hint="Ask the person to rename the file.", path=written)
    return Place(mount, true_path, written, _MAKER)


def _true_path(mount: Mount, path: str, *, follow: bool, below_files: bool, wait: bool) -> str:
    """`path` with its links followed, as far as it exists, and the names that do not exist yet below that."""
    missing_is = (FileNotFoundError, NotADirectoryError) if below_files else FileNotFoundError
    try:
        return _true_path_of_existing(mount, path, follow=follow, wait=wait)
    except missing_is:
        parts = path.split("/")
    above, exists, missing = "", 0, len(parts)
    # Most often only the last name is new. From there on halving: a long path of new names must not cost a look for each.
    upto = missing - 1
    while missing - exists > 1:
        try:
            above = _true_path_of_existing(mount, "/".join(parts[:upto]), follow=True, wait=wait)
            exists = upto
        except missing_is:
            missing = upto
        upto = (exists + missing) // 2
    try:
        _check_new(mount, above, parts[exists], wait=wait)
    except NotADirectoryError:
        if not below_files:
            raise
    return "/".join(filter(None, (above, *parts[exists:])))


def _true_path_of_existing(mount: Mount, path: str, *, follow: bool, wait: bool) -> str:
    if not path:
        return ""
    nofollow = 0 if follow else os.O_NOFOLLOW
    try:
        os.close(open_beneath(mount.descriptor, path, os.O_PATH | nofollow, follow=False, cached=not wait))
        return path
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    if follow:
        return _where_links_lead(mount, path, wait=wait)
    parent, _, name = path.rpartition("/")
    return f"{_where_links_lead(mount, parent, wait=wait)}/{name}".lstrip("/")


def _where_links_lead(mount: Mount, path: str, *, wait: bool) -> str:
    descriptor = open_beneath(mount.descriptor, path, os.O_PATH, cached=not wait)
    try:
        here, root = os.readlink(f"/proc/self/fd/{descriptor}"), mount.true_root()
    finally:
        os.close(descriptor)
    if here == root:
        return ""
    prefix = root.rstrip("/") + "/"
    if not here.startswith(prefix):
        # Moved out between the opening and the look.
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    return here[len(prefix) :]


def _check_new(mount: Mount, above: str, name: str, *, wait: bool) -> None:
    """Where something new is to stand there must be a directory, and no link that leads nowhere."""
    descriptor = open_beneath(mount.descriptor, above, os.O_PATH, follow=False, cached=not wait)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), above)
        if not stat.S_ISLNK(os.lstat(name, dir_fd=descriptor).st_mode):
            return
    except FileNotFoundError:
        return
    finally:
        os.close(descriptor)
    link = f"{above}/{name}".lstrip("/")
    try:
        _where_links_lead(mount, link, wait=wait)
    except FileNotFoundError:
        raise NotFound(f"'{link}' is a link that leads nowhere", hint="Remove the link, or name where it should lead.", path=link) from None


def _explained(error: OSError, written: str) -> Exception:
    if error.errno == errno.EXDEV:
        return Outside(
            f"'{written}' leads outside the root through a link",
            hint="Use a path that stays inside. Links with an absolute target are refused even when they point back inside.",
            path=written,
        )
    if error.errno == errno.ELOOP:
        return Outside(f"'{written}' goes through links in a circle or that change", hint="Name the file itself.", path=written)
    if error.errno == errno.ENOTDIR:
        return NotDirectory(f"part of '{written}' is not a directory", hint="Check the path.", path=written)
    if error.errno == errno.ENAMETOOLONG:
        return InvalidPath(f"a name in '{written[:80]}' is too long", hint="Use a shorter name.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return AccessDenied(f"the system does not let us look at '{written}'", hint="Check the permissions of the folder.", path=written)
    return error
