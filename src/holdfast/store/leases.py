"""Who holds a workspace: one process at a time, until it stops pushing its deadline forward.

A `Lease` carries the workspace's epoch, and every acknowledged write
reads the epoch in its own transaction (`check_held`). So whoever has
lost a lease can no longer write, however late it notices.
"""

from dataclasses import dataclass

from holdfast.vocabulary.errors import Busy, LostLease, NotFound

from .database import Database, Durability, Transaction
from .uuid7 import uuid7


@dataclass(frozen=True)
class Node:
    """One process that can hold workspaces, and where the others find it."""

    id: str
    address: str


@dataclass(frozen=True)
class Lease:
    """The right of a node to change a workspace."""

    workspace_id: str
    node_id: str
    epoch: int


async def join(database: Database, address: str, *, seconds: float) -> Node:
    """A new node, alive for so long unless it is renewed."""
    node = Node(uuid7(), address)

    def work(transaction: Transaction) -> None:
        values = {"id": node.id, "address": address, "deadline": _in(seconds, transaction)}
        transaction.run("INSERT INTO nodes (id, address, deadline) VALUES (:id, :address, :deadline)", values)

    await database.write(work)
    return node


async def renew(database: Database, node: Node, *, seconds: float) -> list[Lease]:
    """Push the node's deadline forward, and return the leases that it still has.

    Raises:
        LostLease: The node is no longer known; it must stop, and come back as a new one.
    """

    def work(transaction: Transaction) -> list[Lease]:
        values = {"id": node.id, "deadline": _in(seconds, transaction)}
        if not transaction.run("UPDATE nodes SET deadline = :deadline WHERE id = :id", values):
            raise LostLease("this process has lost its place", hint="Start it again.")
        rows = transaction.rows("SELECT workspace_id, node_id, epoch FROM leases WHERE node_id = :id", {"id": node.id})
        return [Lease(*row) for row in rows]

    # A renewal that a power cut undoes is missed by nobody: the process is gone too.
    return await database.write(work, durability=Durability.RECORDED)


async def leave(database: Database, node: Node) -> None:
    """Give all leases back, and the node with them."""

    def work(transaction: Transaction) -> None:
        transaction.run("DELETE FROM leases WHERE node_id = :id", {"id": node.id})
        transaction.run("DELETE FROM nodes WHERE id = :id", {"id": node.id})

    await database.write(work)


async def take(database: Database, node: Node, workspace_id: str, *, holder_is_gone: bool = False) -> Lease:
    """The lease of a workspace that nobody living holds; the same one again when the node has it already.

    `holder_is_gone` is for a caller that knows it (it has the lock file
    that the holder would have): the holder's deadline is then not waited for.

    Raises:
        Busy: Another node holds it; its facts name the `holder` and its `address`.
        LostLease: `node` is no longer known.
        NotFound: There is no such workspace.
    """
    return await database.write(lambda transaction: _take(transaction, node, workspace_id, holder_is_gone=holder_is_gone))


async def declare_gone(database: Database, node_id: str) -> None:
    """End a node's time, for a caller that knows that its process has ended."""
    await database.write(lambda transaction: transaction.run("UPDATE nodes SET deadline = 0 WHERE id = :id", {"id": node_id}))


async def addresses(database: Database) -> set[str]:
    """Where every node that is still known is or was to be found."""
    return {row[0] for row in await database.rows("SELECT address FROM nodes")}


async def release(database: Database, lease: Lease) -> None:
    """Give one lease back; without effect when it was lost."""
    values = {"workspace_id": lease.workspace_id, "epoch": lease.epoch}
    await database.write(
        lambda transaction: transaction.run("DELETE FROM leases WHERE workspace_id = :workspace_id AND epoch = :epoch", values)
    )


async def holder(database: Database, workspace_id: str) -> Node | None:
    """The node that holds the workspace, alive or not: where a call is to be passed to."""
    row = await database.row(
        "SELECT n.id, n.address FROM leases l JOIN nodes n ON n.id = l.node_id WHERE l.workspace_id = :id", {"id": workspace_id}
    )
    return Node(*row) if row else None


def check_held(transaction: Transaction, lease: Lease) -> None:
    """Let only the holder of the workspace pass, and let nobody take it over before this transaction has ended.

    Raises:
        LostLease: Another process has taken the workspace over.
    """
    row = transaction.row("SELECT epoch FROM workspaces WHERE id = :id FOR SHARE", {"id": lease.workspace_id})
    if row != (lease.epoch,):
        raise LostLease("another process has taken the workspace over", hint="Repeat the call: it will be passed on.", epoch=lease.epoch)


def _take(transaction: Transaction, node: Node, workspace_id: str, *, holder_is_gone: bool) -> Lease:
    # In this order, so that nobody who is writing now can be overtaken: FOR UPDATE waits for their FOR SHARE.
    if transaction.row("SELECT id FROM workspaces WHERE id = :id AND deleted_at IS NULL FOR UPDATE", {"id": workspace_id}) is None:
        raise NotFound("there is no such workspace")
    if transaction.row("SELECT id FROM nodes WHERE id = :id", {"id": node.id}) is None:
        raise LostLease("this process has lost its place", hint="Start it again.")
    row = transaction.row(
        "SELECT l.node_id, l.epoch, n.address, n.deadline FROM leases l LEFT JOIN nodes n ON n.id = l.node_id WHERE l.workspace_id = :id",
        {"id": workspace_id},
    )
    if row is not None:
        node_id, epoch, address, node_deadline = row
        if node_id == node.id:
            return Lease(workspace_id, node.id, epoch)
        if node_deadline is not None and node_deadline > transaction.now() and not holder_is_gone:
            raise Busy("another process holds the workspace", hint="Pass the call on, or try again.", holder=node_id, address=address)
    return _granted(transaction, node, workspace_id)


def _granted(transaction: Transaction, node: Node, workspace_id: str) -> Lease:
    row = transaction.row("UPDATE workspaces SET epoch = epoch + 1 WHERE id = :id RETURNING epoch", {"id": workspace_id})
    assert row is not None
    lease = Lease(workspace_id, node.id, row[0])
    transaction.run(
        "INSERT INTO leases (workspace_id, node_id, epoch, taken_at) VALUES (:workspace_id, :node_id, :epoch, :now)"
        " ON CONFLICT (workspace_id) DO UPDATE SET node_id = excluded.node_id, epoch = excluded.epoch, taken_at = excluded.taken_at",
        {"workspace_id": workspace_id, "node_id": node.id, "epoch": lease.epoch, "now": transaction.now()},
    )
    _bury(transaction)
    return lease


def _bury(transaction: Transaction) -> None:
    """Forget nodes that hold nothing and are long dead."""
    transaction.run(
        "DELETE FROM nodes WHERE deadline < :long_ago AND id NOT IN (SELECT node_id FROM leases)",
        {"long_ago": transaction.now() - 86_400_000_000},
    )


def _in(seconds: float, transaction: Transaction) -> int:
    return transaction.now() + round(seconds * 1_000_000)
