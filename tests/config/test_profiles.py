"""Profiles by their names: where they are found, whose goes first, and which files are none."""

import os
from pathlib import Path

import pytest

from holdfast.config.profile_file import KnownTools
from holdfast.config.profiles import PERSONS_FOLDER, PROJECTS_FOLDER, ProfileFolders, origin_of, read_file
from holdfast.vocabulary.errors import InvalidArguments, InvalidSetting
from holdfast.vocabulary.profile import SHIPPED, Origin
from holdfast.vocabulary.scope import Scope
from tests.promises import carries

READER = "tool_permissions: {read_file: {allowed: true}}\n"
WRITER = "tool_permissions: {file_write: {allowed: true}}\n"


@pytest.fixture
def folders(tmp_path: Path, known: KnownTools) -> ProfileFolders:
    return ProfileFolders(tmp_path / "home", tmp_path / "project", known)


def put(folders: ProfileFolders, origin: Origin, name: str, text: str) -> Path:
    assert folders.project is not None
    folder = folders.home / PERSONS_FOLDER if origin is Origin.PERSON else folders.project / PROJECTS_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.yaml"
    file.write_text(text)
    return file


@carries("PROFILE-7")
def test_a_profile_is_found_in_either_folder_and_among_the_shipped_ones(folders: ProfileFolders) -> None:
    put(folders, Origin.PERSON, "mine", READER)
    put(folders, Origin.PROJECT, "theirs", WRITER)

    assert folders.find("fs") is SHIPPED["fs"]
    assert (folders.find("mine").scope, folders.find("mine").origin) == (Scope.of("read_file"), Origin.PERSON)
    assert (folders.find("theirs").scope, folders.find("theirs").origin) == (Scope.of("file_write"), Origin.PROJECT)


@carries("PROFILE-8")
def test_a_projects_profile_never_takes_the_place_of_the_persons_or_of_a_shipped_one(folders: ProfileFolders) -> None:
    put(folders, Origin.PERSON, "reviewer", READER)
    put(folders, Origin.PROJECT, "reviewer", WRITER)
    shadow = put(folders, Origin.PROJECT, "simple", WRITER)

    assert folders.find("reviewer").scope == Scope.of("read_file")
    assert folders.find("simple") is SHIPPED["simple"]
    with pytest.raises(InvalidSetting, match="shipped"):
        read_file(shadow, Origin.PROJECT, folders.known)


@carries("PROFILE-7")
def test_a_person_may_have_their_own_idea_of_a_shipped_profile(folders: ProfileFolders) -> None:
    put(folders, Origin.PERSON, "coder", READER)

    assert folders.find("coder").scope == Scope.of("read_file")


@pytest.mark.parametrize("name", ["nobody", "../profiles/mine", "/etc/passwd", "", "mine.yaml", "a\0b", "x" * 5000])
def test_a_name_that_is_none_is_told_with_those_that_there_are(folders: ProfileFolders, name: str) -> None:
    put(folders, Origin.PERSON, "mine", READER)

    with pytest.raises(InvalidArguments) as caught:
        folders.find(name)

    assert all(each in caught.value.hint for each in (*SHIPPED, "mine"))


@carries("PROFILE-13")
def test_the_list_has_all_with_what_is_wrong_with_them_and_whose_hides_whose(folders: ProfileFolders) -> None:
    put(folders, Origin.PERSON, "mine", READER)
    put(folders, Origin.PROJECT, "mine", READER)
    put(folders, Origin.PROJECT, "broken", "trust: blind\n")

    listed = {(each.name, each.origin): each for each in folders.every()}

    assert listed.keys() == {
        ("mine", Origin.PERSON),
        *((name, Origin.SHIPPED) for name in SHIPPED),
        ("mine", Origin.PROJECT),
        ("broken", Origin.PROJECT),
    }
    assert listed["mine", Origin.PROJECT].hidden_by is Origin.PERSON
    assert listed["mine", Origin.PERSON].hidden_by is None
    assert "supervised" in str(listed["broken", Origin.PROJECT].problem)
    assert listed["core", Origin.SHIPPED].profile is SHIPPED["core"]


def test_without_folders_there_are_the_shipped_ones(tmp_path: Path, known: KnownTools) -> None:
    assert [each.name for each in ProfileFolders(tmp_path / "none", None, known).every()] == list(SHIPPED)


# Files that are none


@pytest.mark.parametrize("name", ["my profile", ".hidden", "-x", "ä", "everything", "safe-only", "x" * 65])
def test_a_file_with_a_name_that_cannot_be_a_profiles_is_told(folders: ProfileFolders, name: str) -> None:
    file = put(folders, Origin.PERSON, name, READER)

    with pytest.raises(InvalidSetting, match="name of a profile"):
        read_file(file, Origin.PERSON, folders.known)


@carries("PROFILE-11")
def test_a_link_in_a_project_is_not_followed(folders: ProfileFolders, tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text("planted: secret\n")
    file = put(folders, Origin.PROJECT, "linked", "")
    file.unlink()
    file.symlink_to(tmp_path / "outside.yaml")

    with pytest.raises(InvalidSetting) as caught:
        folders.find("linked")

    assert "planted" not in str(caught.value)
    # Whoever keeps their own files elsewhere may.
    mine = put(folders, Origin.PERSON, "mine", "")
    mine.unlink()
    (tmp_path / "elsewhere").write_text(READER)
    mine.symlink_to(tmp_path / "elsewhere")
    assert folders.find("mine").scope == Scope.of("read_file")


@carries("PROFILE-11")
def test_what_is_no_file_or_not_text_or_too_long_is_told_and_nothing_waits(folders: ProfileFolders) -> None:
    folder = put(folders, Origin.PROJECT, "pipe", "").parent
    (folder / "pipe.yaml").unlink()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "folder.yaml").mkdir()
    (folder / "binary.yaml").write_bytes(b"\xff\xfe")
    (folder / "long.yaml").write_text("# " + "x" * 70_000)

    for name in ("pipe", "folder", "binary", "long"):
        with pytest.raises(InvalidSetting):
            folders.find(name)


def test_whose_a_file_is_shows_from_where_it_lies(tmp_path: Path) -> None:
    assert origin_of(tmp_path / PROJECTS_FOLDER / "x.yaml") is Origin.PROJECT
    assert origin_of(tmp_path / PERSONS_FOLDER / "x.yaml") is Origin.PERSON
    assert origin_of(tmp_path / "x.yaml") is Origin.PERSON
