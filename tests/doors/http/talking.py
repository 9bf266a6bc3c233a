"""A server whose model is a script, and a client at one of its sockets."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tests.served import OWN, Served, started

SECONDS = 15
NEWS = ("session:state", "files:changed")


def calls(tool: str, **arguments: object) -> dict[str, object]:
    return {"call": tool, "with": arguments}


def says(*words: str) -> list[object]:
    return [{"say": word} for word in words]


ASKED = {
    "name": "colour",
    "question": "Which?",
    "schema": {"type": "string"},
    "buttons": [{"label": "Red", "value": "red"}, {"label": "Blue", "value": "blue"}],
}

# By what the person's message has in it.
TURNS: dict[str, list[list[object]]] = {
    "hello": [says("Hello ", "there.")],
    "think": [[{"think": "Well now. "}, {"say": "So it is."}]],
    "read it": [[*says("Looking. "), calls("read", path="/known.md")], says("It is known.")],
    "write yes": [[calls("write", path="/yes.md", content="yes\n", overwrite=True)], says("Written.")],
    "write no": [[calls("write", path="/no.md", content="no\n")], says("Not written.")],
    "write changed": [[calls("write", path="/changed.md", content="mine\n", overwrite=True)], says("Changed.")],
    "write late": [[calls("write", path="/late.md", content="late\n", overwrite=True)], says("Late.")],
    "run it": [[calls("bash", command="mkdir d; echo a > d/a.txt; echo b > b.txt")], says("Ran.")],
    "ask me": [[calls("ask_user", questions=[ASKED])], says("Thanks.")],
    "slowly": [[*says("Begun. "), {"delay": 60}, *says("Never.")]],
    "in parts": [[*says("One "), {"delay": 0.4}, *says("two "), {"delay": 0.4}, *says("three.")]],
    "much": [[{"say": "0123456789 " * 2_000}]],
    "flood": [[step for _ in range(40) for step in ({"say": "{{user}}"}, {"delay": 0.01})]],
    "look": [[calls("read_file", path="known.md"), calls("read_file", path="none.md")], says("Seen.")],
    "for ever": [[calls("list_directory", path=".")]] * 25,
    "broken": [[*says("Half. "), {"fault": "cut"}]],
}


class Line:
    """One client: what it says, and all that it has heard."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self.heard: list[dict[str, Any]] = []
        self.news: list[dict[str, Any]] = []

    def say(self, kind: str, **payload: object) -> None:
        self.write({"type": kind, "payload": payload})

    def write(self, frame: object) -> None:
        self._connection.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    def ask(self, frame: object) -> dict[str, Any]:
        """Send a frame, and give the next that comes."""
        self.write(frame)
        return self.next()

    def next(self) -> dict[str, Any]:
        """The next frame; what is told of the whole workspace is put aside."""
        while (frame := json.loads(self._connection.recv(timeout=SECONDS)))["type"] in NEWS:
            self.news.append(frame)
        self.heard.append(frame)
        return frame

    def next_state(self, session_id: str) -> dict[str, Any]:
        """How a session was next, of what was not asked for yet."""
        while True:
            for frame in self.news:
                if frame["payload"].get("sessionId") == session_id:
                    self.news.remove(frame)
                    return frame["payload"]
            self.until_news("session:state", sessionId=session_id)

    def until_news(self, kind: str, **payload: object) -> dict[str, Any]:
        """The next news of a kind that say this."""
        while True:
            frame = json.loads(self._connection.recv(timeout=SECONDS))
            (self.news if frame["type"] in NEWS else self.heard).append(frame)
            if frame["type"] == kind and payload.items() <= frame["payload"].items():
                return frame

    def until(self, *kinds: str) -> dict[str, Any]:
        """The next frame of one of these kinds."""
        while (frame := self.next())["type"] not in kinds:
            pass
        return frame

    def send(self, content: str, **more: object) -> dict[str, Any]:
        """Say something to the model, and give the end of its turn."""
        self.say("chat:send", content=content, **more)
        end = self.until("chat:stream-end", "chat:error")
        assert end["type"] == "chat:stream-end", end
        return end

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [frame["payload"] for frame in self.heard if frame["type"] == kind]

    @property
    def text(self) -> str:
        return "".join(told["content"] for told in self.of("chat:text-delta"))


@contextmanager
def line(
    served: Served,
    address: str = "/ws/chat",
    *,
    token: str | None = OWN,
    in_address: str = "",
    workspace: str | None = None,
    origin: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Generator[Line]:
    """A client at a socket, by default with the server's own token in its header."""
    head = dict(headers or {})
    if token is not None:
        head["Authorization"] = f"Bearer {served.told['token'] if token is OWN else token}"
    url = f"{served.base.replace('http', 'ws', 1)}{address}?workspace={workspace or served.workspace_id}{in_address}"
    source = None if origin is None else Origin(origin)
    with connect(url, origin=source, additional_headers=head, open_timeout=SECONDS, max_size=None, proxy=None) as connection:
        yield Line(connection)


def start_talking(folder: Path, environ: Mapping[str, str] | None = None) -> Served:
    """A server whose model is the script above."""
    scripts = folder / "home" / "scripts"
    scripts.mkdir(parents=True)
    turns = [{"when": {"user": user}, "answers": answers} for user, answers in TURNS.items()]
    (scripts / "talk.yaml").write_text(json.dumps({"turns": turns}), encoding="utf-8")
    served = started(folder, environ={"HOLDFAST_MODEL": "scripted/talk", **(environ or {})})
    (served.project / "known.md").write_text("known\n", encoding="utf-8")
    return served
