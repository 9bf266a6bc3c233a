"""How `person` shows files and changes."""

from holdfast.vocabulary.json import Json
from holdfast.vocabulary.moments import iso
from holdfast.workspace.item import Item, Saved


def file(item: Item) -> dict[str, Json]:
    """A file or folder; one that is not synced has been deleted."""
    return {
        "id": item.file_id,
        "path": f"/{item.path}",
        "name": item.name,
        "display_name": item.display_name,
        "file_type": item.file_type,
        "is_virtual": item.is_virtual,
        "synced": item.synced,
        "size": item.size,
        "created_at": iso(item.created_at),
        "updated_at": iso(item.updated_at),
    }


def change(saved: Saved) -> dict[str, Json]:
    """A change that has become a version."""
    return {"path": f"/{saved.path}", "file_id": saved.file_id, "version_id": saved.version_id, "hash": saved.hash}
