"""file_read"""

import hashlib
from pathlib import Path

import pytest

from holdfast.tool import Category, Danger
from tests.desk import Desk, open_desk
from tests.promises import carries

MIB = 1024 * 1024


def central(desk: Desk) -> Path:
    return desk.holdfast.road.surroundings.mounts["central"].root


@carries("CORE-READ-1", "TYPE-4")
async def test_it_gives_the_files_content_as_output_and_is_no_error(desk: Desk) -> None:
    desk.write("test.txt", "hello")

    said = await desk.call("file_read", path="test.txt")

    assert (said["output"], said["is_error"]) == ("hello", False)
    assert said.keys() == {"output", "is_error", "metadata"}
    assert (said["metadata"]["bytes"], said["metadata"]["sha256"]) == (5, hashlib.sha256(b"hello").hexdigest())


@carries("CORE-READ-2", "ROAD-7", "TYPE-4")
@pytest.mark.parametrize("path", ["nope.txt", "no/such/folder/nope.txt", "./nope.txt"])
async def test_a_missing_file_is_an_error_result_that_says_file_not_found(desk: Desk, path: str) -> None:
    said = await desk.call("file_read", path=path)

    assert said["is_error"] is True
    assert f"file not found: {path}" in said["output"]
    assert said["metadata"]["code"] == "not_found"


@carries("CORE-READ-3")
async def test_exactly_1_mib_comes_whole_and_one_byte_more_is_cut_with_a_note(desk: Desk) -> None:
    desk.write("whole.txt", "x" * MIB)
    desk.write("over.txt", "x" * (MIB + 1))

    whole = await desk.call("file_read", path="whole.txt")
    over = await desk.call("file_read", path="over.txt")

    assert (len(whole["output"]), whole["metadata"]["truncated"]) == (MIB, False)
    assert over["output"].startswith("x" * MIB + "\n[truncated")
    assert (over["is_error"], over["metadata"]["truncated"], over["metadata"]["bytes"]) == (False, True, MIB + 1)


@carries("CORE-READ-3")
async def test_a_cut_never_halves_a_character(desk: Desk) -> None:
    desk.write("snow.txt", "x" + "\N{SNOWMAN}" * (MIB // 3 + 1))

    said = await desk.call("file_read", path="snow.txt")

    shown = said["output"].partition("\n[truncated")[0]
    assert set(shown) == {"x", "\N{SNOWMAN}"}
    assert len(shown.encode()) in range(MIB - 2, MIB + 1)


@carries("CORE-READ-4")
async def test_a_binary_file_is_content_and_no_error(desk: Desk) -> None:
    data = bytes(range(256))
    file = desk.write("image.bin", data)

    said = await desk.call("file_read", path="image.bin")

    assert (said["is_error"], said["metadata"]["binary"], said["metadata"]["bytes"]) == (False, True, 256)
    assert "ABC" in said["output"]
    assert desk.last_text.encode()
    assert file.read_bytes() == data


@carries("CORE-READ-5", "TYPE-1", "ROAD-8")
async def test_it_is_a_safe_file_tool_that_requires_a_path(desk: Desk) -> None:
    tool = desk.holdfast.road.registry.get("file_read")

    assert tool is not None
    assert (tool.category, tool.danger) == (Category.FILE, Danger.SAFE)
    assert tool.schema == {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Absolute or relative path to read."}},
        "required": ["path"],
    }
    assert {each.value for each in Category} == {"file", "exec", "search", "mcp"}
    assert {each.value for each in Danger} == {"safe", "dangerous"}


@carries("CORE-PATH-1")
@pytest.mark.parametrize("path", ["sub/file.txt", "./sub/file.txt", "sub/../sub/file.txt", "sub//file.txt", " sub/file.txt "])
async def test_a_relative_path_counts_from_the_project(desk: Desk, path: str) -> None:
    desk.write("sub/file.txt", "relative\n")

    assert (await desk.call("file_read", path=path))["output"] == "relative\n"


@carries("CORE-PATH-2", "CORE-PATH-6", "MOUNT-2")
async def test_a_host_path_inside_the_project_or_the_central_folder_works(desk: Desk) -> None:
    file = desk.write("sub/file.txt", "project\n")
    (central(desk) / "plan.md").write_text("central\n")

    assert (await desk.call("file_read", path=str(file)))["output"] == "project\n"
    assert (await desk.call("file_read", path=str(central(desk) / "plan.md")))["output"] == "central\n"


@carries("CORE-PATH-2")
async def test_a_host_path_works_as_the_folder_was_named_and_as_it_truly_is(tmp_path: Path) -> None:
    true = tmp_path / "true"
    true.mkdir()
    (tmp_path / "project").symlink_to("true")
    (true / "file.txt").write_text("here\n")
    async with open_desk(tmp_path) as desk:
        for root in (true, tmp_path / "project"):
            assert (await desk.call("file_read", path=f"{root}/file.txt"))["output"] == "here\n"


@carries("CORE-PATH-3", "ROAD-6", "ROAD-7")
@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/etc/passwd", "..", "sub/../../x", "/", "/tmp", "{root}2/x", "{root}/../outside.txt"]
)
async def test_a_path_outside_is_refused_as_outside(desk: Desk, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.txt").write_text("outside bytes\n")

    said = await desk.call("file_read", path=path.format(root=desk.root))

    assert (said["is_error"], desk.last_code) == (True, "outside")
    assert "outside" in said["output"]
    assert "outside bytes" not in said["output"]


@carries("CORE-PATH-4")
@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../../../../../etc/passwd", "other", "/proc/self/root/etc/passwd"])
async def test_a_link_inside_that_leads_out_is_refused_as_outside(desk: Desk, target: str) -> None:
    (desk.root / "link").symlink_to(target)
    (desk.root / "other").symlink_to("/etc/passwd")

    said = await desk.call("file_read", path="link")

    assert (said["is_error"], desk.last_code, "root:" in said["output"]) == (True, "outside", False)


@carries("CORE-PATH-5")
@pytest.mark.parametrize("path", ["", "   ", "\n"])
async def test_an_empty_path_is_refused(desk: Desk, path: str) -> None:
    desk.write("file.txt", "x")

    said = await desk.call("file_read", path=path)

    assert (said["is_error"], desk.last_code) == (True, "invalid_path")


@carries("PROT-1", "PROT-2", "PROT-3", "PROT-4", "PROT-6")
@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".ENV",
        ".env.production",
        "deep/er/.env",
        ".git/config",
        ".Git/CONFIG",
        ".git/hooks/pre-commit",
        "sub/.git/hooks/deep/x",
        "aws-credentials.json",
        "my.CREDENTIAL",
        "secrets/plain.txt",
        "app.Secret.yml",
        "id_rsa",
        ".ssh/ID_ED25519",
        "server.pem",
        "tls.KEY",
        "cert.p12",
    ],
)
async def test_a_protected_file_is_refused(desk: Desk, path: str) -> None:
    desk.write(path, "canary\n")

    said = await desk.call("file_read", path=path)

    assert (said["is_error"], desk.last_code, "canary" in said["output"]) == (True, "protected", False)


@carries("PROT-1")
@pytest.mark.parametrize("path", [".env.example", "environment.md", ".envrc.md", "keys.md", ".gitignore", ".git/HEAD", "monkey.py"])
async def test_what_only_looks_like_a_protected_file_is_read(desk: Desk, path: str) -> None:
    desk.write(path, "ordinary\n")

    assert (await desk.call("file_read", path=path))["output"] == "ordinary\n"


@carries("PROT-4", "PROT-6")
async def test_a_link_to_a_protected_file_and_a_link_with_a_protected_name_are_refused(desk: Desk) -> None:
    desk.write(".env", "canary\n")
    desk.write("plain.txt", "canary\n")
    (desk.root / "innocent.txt").symlink_to(".env")
    (desk.root / "secret.txt").symlink_to("plain.txt")

    for path in ("innocent.txt", "secret.txt"):
        said = await desk.call("file_read", path=path)

        assert (desk.last_code, "canary" in said["output"]) == ("protected", False)
