"""Users, workspaces and members."""

import pytest

from holdfast.store import people
from holdfast.store.database import Database
from holdfast.store.people import Mount
from holdfast.vocabulary.errors import Conflict, Exists, NotFound


async def test_a_user_is_found_by_the_address_in_any_case(database: Database) -> None:
    ada = await people.add_user(database, "Ada@Example.com", full_name="Ada L", password_hash="argon")

    assert await people.find_user(database, "ADA@example.COM") == ada
    assert await people.get_user(database, ada.id) == ada
    assert await people.get_user(database, "nobody") is None
    assert "argon" not in repr(ada)


async def test_an_address_belongs_to_one_user(database: Database) -> None:
    await people.add_user(database, "ada@example.com")

    with pytest.raises(Exists):
        await people.add_user(database, "ADA@example.com")


async def test_a_password_can_be_changed_and_a_user_shut_out(database: Database) -> None:
    ada = await people.add_user(database, "ada@example.com")

    await people.set_password(database, ada.id, "new")
    await people.set_disabled(database, ada.id, disabled=True)

    changed = await people.get_user(database, ada.id)
    assert changed is not None
    assert (changed.password_hash, changed.disabled) == ("new", True)
    with pytest.raises(NotFound):
        await people.set_password(database, "nobody", "x")


async def test_a_workspace_has_its_owner_as_its_first_member(database: Database) -> None:
    ada = await people.add_user(database, "ada@example.com")

    workspace = await people.add_workspace(database, "Bread", "/srv/bread", ada.id, mounts=[Mount("pkg", "/srv/pkg", "ro")])

    assert await people.get_workspace(database, workspace.id) == workspace
    assert await people.find_workspace(database, "/srv/bread") == workspace
    assert await people.list_mounts(database, workspace.id) == [Mount("pkg", "/srv/pkg", "ro")]
    assert [(member.email, member.role) for member in await people.list_members(database, workspace.id)] == [("ada@example.com", "owner")]


async def test_a_workspace_of_nobody_is_refused(database: Database) -> None:
    with pytest.raises(Conflict):
        await people.add_workspace(database, "Bread", "/srv/bread", "nobody")

    assert await people.find_workspace(database, "/srv/bread") is None


async def test_members_come_change_and_go(database: Database) -> None:
    ada, bob = await people.add_user(database, "ada@example.com"), await people.add_user(database, "bob@example.com")
    workspace = await people.add_workspace(database, "Bread", "/srv/bread", ada.id)

    assert await people.get_member(database, workspace.id, bob.id) is None
    await people.put_member(database, workspace.id, bob.id, scopes=["tools:read"])
    await people.put_member(database, workspace.id, bob.id, role="owner", scopes=["tools:read", "tools:dangerous"])

    member = await people.get_member(database, workspace.id, bob.id)
    assert member is not None
    assert (member.role, member.scopes) == ("owner", ("tools:read", "tools:dangerous"))
    assert [found.id for found in await people.list_workspaces(database, bob.id)] == [workspace.id]

    await people.remove_member(database, workspace.id, bob.id)
    assert await people.get_member(database, workspace.id, bob.id) is None
    with pytest.raises(NotFound):
        await people.remove_member(database, workspace.id, bob.id)


async def test_a_disabled_user_is_no_member(database: Database) -> None:
    ada = await people.add_user(database, "ada@example.com")
    workspace = await people.add_workspace(database, "Bread", "/srv/bread", ada.id)

    await people.set_disabled(database, ada.id, disabled=True)

    assert await people.get_member(database, workspace.id, ada.id) is None


async def test_a_workspace_is_renamed_and_set_anew(database: Database) -> None:
    ada = await people.add_user(database, "ada@example.com")
    workspace = await people.add_workspace(database, "Bread", "/srv/bread", ada.id, settings={"protect": True})

    renamed = await people.change_workspace(database, workspace.id, name="Cake")
    reset = await people.change_workspace(database, workspace.id, settings={"protect": False})

    assert (renamed.name, renamed.settings) == ("Cake", {"protect": True})
    assert (reset.name, reset.settings) == ("Cake", {"protect": False})
    with pytest.raises(NotFound):
        await people.change_workspace(database, "nothing", name="x")


async def test_a_deleted_workspace_is_found_by_nobody(database: Database) -> None:
    ada = await people.add_user(database, "ada@example.com")
    workspace = await people.add_workspace(database, "Bread", "/srv/bread", ada.id)

    await people.delete_workspace(database, workspace.id)

    assert await people.get_workspace(database, workspace.id) is None
    assert await people.find_workspace(database, "/srv/bread") is None
    assert await people.list_workspaces(database, ada.id) == []
    assert await people.get_member(database, workspace.id, ada.id) is None
    with pytest.raises(NotFound):
        await people.delete_workspace(database, workspace.id)
