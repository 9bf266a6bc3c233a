"""The same providers against a server that others wrote: npm's @copilotkit/aimock, which speaks all of their wire formats."""

import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from holdfast.vocabulary.chunks import EndReason
from holdfast.vocabulary.messages import UserMessage
from tests.promises import carries
from tests.providers.conversation import answer, asking
from tests.providers.speakers import SPEAKERS
from tests.untested import needs

PACKAGE = "@copilotkit/aimock@1.43.0"
SERVER = """
import { LLMock } from "@copilotkit/aimock";
const mock = new LLMock({ port: 0, chunkSize: 5 });
const calls = [{ name: "fs_read", arguments: JSON.stringify({ path: "é.txt" }) }, { name: "ls", arguments: "{}" }];
mock.onMessage("read", { content: "Looking.", toolCalls: calls });
mock.onMessage("hello", { content: "Hi there, 😀!" });
await mock.start();
console.log(mock.url);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
"""


@pytest.fixture
def aimock(tmp_path: Path) -> Generator[str]:
    """Its address. Where npm reaches nobody, the test is left out."""
    npm = [shutil.which("npm") or "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(tmp_path), PACKAGE]
    installed = subprocess.run(npm, capture_output=True, text=True, check=False, timeout=120)
    if installed.returncode != 0:
        pytest.skip(f"npm cannot get {PACKAGE}")
    (tmp_path / "server.mjs").write_text(SERVER)
    node = ["node", str(tmp_path / "server.mjs")]
    with subprocess.Popen(node, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@carries("AC-25", "AC-26", "AC-27", "PROV-1")
@pytest.mark.long
@needs("npm", "a server that others wrote comes from there")
@needs("nodejs", "it runs a server that others wrote")
async def test_a_server_that_others_wrote_is_understood_by_every_provider(aimock: str) -> None:
    for speaker in SPEAKERS:
        url = aimock if speaker.name in ("anthropic", "ollama") else f"{aimock}/v1"

        _, hello = await answer(speaker.at(url), asking(UserMessage("hello")))
        _, reading = await answer(speaker.at(url), asking(UserMessage("read it")))
        _, unknown = await answer(speaker.at(url), asking(UserMessage("something else")))

        assert (hello.message.text, hello.reason) == ("Hi there, 😀!", EndReason.DONE), speaker.name
        assert [(call.name, call.arguments) for call in reading.runnable] == [("fs.read", '{"path":"é.txt"}'), ("ls", "{}")]
        assert reading.reason is EndReason.CALLS
        assert unknown.error is not None
        assert unknown.error.message.startswith("Provider error (404): ")
