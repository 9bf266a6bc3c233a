"""Which folders of programs outside of /usr are shown."""

from pathlib import Path

from holdfast.sandbox.tools import tool_folders


def test_an_installation_is_shown_whole_and_a_folder_of_programs_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder in ("node/bin", "node/lib", ".cargo/bin", ".local/bin", ".local/lib", "bin", "lib"):
        (home / folder).mkdir(parents=True)
    path = ":".join(str(home / folder) for folder in ("node/bin", ".cargo/bin", ".local/bin", "bin"))

    shown = tool_folders(f"{path}:/usr/bin:/usr/local/bin:relative:/nowhere", private=[], homes=[home])

    assert sorted(shown) == sorted(str(home / folder) for folder in ("node", ".cargo/bin", ".local/bin", "bin"))


def test_nothing_is_shown_that_contains_or_belongs_to_a_mount_or_our_data(tmp_path: Path) -> None:
    for folder in ("project/.venv/bin", "project/.venv/lib", "all/bin", "all/lib", "all/data"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "all")
    path = f"{tmp_path}/project/.venv/bin:{tmp_path}/all/bin:{tmp_path}/link/bin:{tmp_path}/all/data"

    shown = tool_folders(path, private=[tmp_path / "project", tmp_path / "all" / "data"], homes=[])

    assert sorted(shown) == [f"{tmp_path}/all/bin", f"{tmp_path}/link/bin"]
