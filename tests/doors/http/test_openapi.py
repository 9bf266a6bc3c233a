"""What the door tells of itself, and whether it keeps to it when a machine tries everything."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.promises import carries
from tests.served import Served

ADDRESSES = {
    "/healthz": {"get"},
    "/readyz": {"get"},
    "/api/v1/me": {"get"},
    "/api/v1/workspaces": {"get", "post"},
    "/api/v1/workspaces/{workspace_id}": {"get", "patch", "delete"},
    "/api/v1/workspaces/{workspace_id}/tools": {"get", "post"},
    "/api/v1/workspaces/{workspace_id}/files": {"get"},
    "/api/v1/workspaces/{workspace_id}/files/{file_id}": {"get"},
    "/api/v1/workspaces/{workspace_id}/files/{file_id}/content": {"get"},
    "/api/v1/workspaces/{workspace_id}/files/{file_id}/versions": {"get"},
    "/api/v1/workspaces/{workspace_id}/files/{file_id}/diff": {"get"},
    "/api/v1/workspaces/{workspace_id}/files/{file_id}/restore": {"post"},
    "/api/v1/workspaces/{workspace_id}/files/{file_id}/undelete": {"post"},
    "/api/v1/workspaces/{workspace_id}/sessions": {"get", "post"},
    "/api/v1/workspaces/{workspace_id}/sessions/{session_id}": {"get", "patch", "delete"},
    "/api/v1/workspaces/{workspace_id}/sessions/{session_id}/events": {"get"},
    "/api/v1/workspaces/{workspace_id}/sessions/{session_id}/messages": {"get", "post"},
    "/api/v1/workspaces/{workspace_id}/sessions/{session_id}/cancel": {"post"},
    "/api/v1/workspaces/{workspace_id}/approvals": {"get"},
    "/api/v1/workspaces/{workspace_id}/approvals/{approval_id}": {"post"},
    "/api/v1/models": {"get"},
    "/api/v1/workspaces/{workspace_id}/questions": {"get"},
    "/api/v1/workspaces/{workspace_id}/questions/{question_id}/answer": {"post"},
}


@pytest.fixture(scope="module")
def schema(nobody: httpx.Client) -> dict[str, Any]:
    return nobody.get("/api/v1/openapi.json").json()


@carries("REST-16")
def test_every_address_is_told_of(schema: dict[str, Any]) -> None:
    told = {path: set(methods) for path, methods in schema["paths"].items()}

    assert {path: told.get(path) for path in ADDRESSES} == ADDRESSES


@carries("REST-16", "REST-7")
def test_every_operation_has_words_statuses_and_examples(schema: dict[str, Any]) -> None:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            where, answers = f"{method} {path}", operation["responses"]
            assert all(operation[word] for word in ("description", "summary", "operationId")), where
            assert "422" not in answers, where
            assert {"400", "403", "500", "503"} <= answers.keys(), where
            assert (operation["security"] == []) == (path in ("/healthz", "/readyz")), where
            assert operation["security"] == [] or "401" in answers, where
            for status, answer in answers.items():
                assert answer["description"], (where, status)
                assert int(status) < 400 or answer["content"]["application/json"]["example"]["success"] is False, (where, status)


@carries("REST-16")
def test_every_field_that_is_sent_has_an_example_or_a_few_values(schema: dict[str, Any]) -> None:
    for name in ("ToolRequest", "NewWorkspace", "NewMessage", "Decision", "Answers", "Restore"):
        fields = schema["components"]["schemas"][name]
        for field in fields["required"]:
            assert "examples" in fields["properties"][field], (name, field)


@carries("REST-16")
def test_the_docs_can_be_read_and_need_nothing_from_elsewhere(nobody: httpx.Client) -> None:
    answer = nobody.get("/docs")
    addresses = nobody.get("/api/v1/openapi.json").json()["paths"]

    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/html")
    assert [path for path in addresses if f"<code>{path}</code>" not in answer.text] == []
    assert ("<script" in answer.text, "//" in answer.text.replace("<!doctype", "")) == (False, False)
    assert nobody.get("/docs/style.css").headers["content-type"].startswith("text/css")


def run_schemathesis(served: Served, folder: Path, *, seconds: int, phases: str) -> "subprocess.CompletedProcess[str]":
    """Try the server with a good token, on a workspace with a file, a session and a question."""
    file = served.call("write", path="/tried.md", content="tried", overwrite=True).json()["result"]
    session = served.client().post(f"/api/v1/workspaces/{served.workspace_id}/sessions", json={}).json()["id"]
    question = {"name": "go", "question": "Go on?", "schema": {"type": "string"}}
    asked = served.call("ask_user", questions=[question]).json()["result"]["question_id"]
    ids = {"workspace_id": served.workspace_id, "file_id": file["file_id"], "session_id": session, "question_id": asked}
    config = folder / "schemathesis.toml"
    config.write_text("[parameters]\n" + "".join(f'"path.{name}" = "{value}"\n' for name, value in ids.items()))
    return subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run", f"{served.base}/api/v1/openapi.json"),
            *("--header", f"Authorization: Bearer {served.told['token']}", "--phases", phases, "--max-time", str(seconds)),
            # A path that is not there is 400 or 404 although its type fits; removing the workspace would end the trial.
            *("--checks", "all", "--exclude-checks", "positive_data_acceptance", "--exclude-method", "DELETE"),
            *("--continue-on-failure", "--request-timeout", "30"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def broke(served: Served) -> list[str]:
    return [line for line in served.log.read_text().splitlines() if '"status":5' in line or '"level":"error"' in line]


@carries("REST-16")
def test_a_machine_that_tries_everything_finds_no_fault_and_no_untold_status(server: Served, tmp_path: Path) -> None:
    tried = run_schemathesis(server, tmp_path, seconds=12, phases="examples,coverage")

    assert tried.returncode == 0, tried.stdout[-6000:] + tried.stderr[-2000:]
    assert broke(server) == []


@pytest.mark.long
@carries("REST-16")
def test_a_machine_that_tries_for_minutes_finds_no_fault_on_either_database(either: Served, tmp_path: Path) -> None:
    tried = run_schemathesis(either, tmp_path, seconds=240, phases="examples,coverage,fuzzing,stateful")

    assert tried.returncode == 0, tried.stdout[-6000:] + tried.stderr[-2000:]
    assert broke(either) == []
