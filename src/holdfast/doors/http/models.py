"""The bodies of requests and answers, as OpenAPI tells them."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A body whose unknown fields are mistakes, and whose values are of the very types that are told."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ErrorBody(BaseModel):
    """Every error looks like this."""

    success: Literal[False] = False
    error: str = Field(examples=["file not found: /notes.md. Check the path, or list the directory."])
    code: str = Field(examples=["NOT_FOUND"])
    fields: dict[str, str] | None = Field(None, description="For bad arguments: what is wrong with each.")
    details: dict[str, Any] | None = Field(None, description="Facts that help to do better, such as what would have matched.")


class ToolRequest(BaseModel):
    """One call of one tool."""

    tool: str = Field(examples=["read"])
    args: dict[str, Any] = Field(examples=[{"path": "/README.md"}])
    session_id: str | None = None
    effects: Literal["keep", "drop", "hold"] | None = None


class ToolAnswer(BaseModel):
    """What came of a call."""

    success: bool
    result: Any = Field(examples=[{"path": "/README.md", "content": "# Hello\n"}])
    error: str | None = None


class ToolDefinition(BaseModel):
    """What a tool is and takes."""

    name: str = Field(examples=["read"])
    description: str = Field(examples=["Read a workspace file."])
    inputSchema: dict[str, Any]  # noqa: N815 - the name that clients know
    toolset: str = Field(examples=["workspace"])
    category: str
    danger: str = Field(examples=["safe"])


class User(BaseModel):
    """Who is asking."""

    id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
    email: str = Field(examples=["anna@example.org"])
    full_name: str = Field(examples=["Anna Example"])


class Workspace(BaseModel):
    """The files of one project."""

    id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
    name: str = Field(examples=["My project"])
    root: str = Field(examples=["/srv/my-project"])
    owner_id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
    created_at: str = Field(examples=["2026-01-24T10:30:00.000Z"])


class NewWorkspace(Strict):
    """A workspace to make. Without a root it gets a folder in the server's own data folder."""

    name: str = Field(min_length=1, max_length=200, examples=["My project"])
    root: str | None = Field(None, description="A folder on the server; only for the server's own local user.")


class ChangedWorkspace(Strict):
    """What is to be set anew."""

    name: str = Field(min_length=1, max_length=200)


class Session(BaseModel):
    """A conversation."""

    id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
    workspace_id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
    title: str = Field(examples=["Fix the tests"])
    mode: str = Field(examples=["build"])
    trust: str = Field(examples=["guided"])
    profile: str = Field(examples=["coder"])
    state: str = Field(examples=["idle"])
    last_seq: int
    created_at: str = Field(examples=["2026-01-24T10:30:00.000Z"])
    updated_at: str = Field(examples=["2026-01-24T10:30:00.000Z"])


class NewSession(Strict):
    """A session to make; what is left out is as the profile and the settings say."""

    id: str | None = Field(None, min_length=1, max_length=200)
    title: str = ""
    mode: Literal["plan", "build"] | None = None
    trust: Literal["supervised", "guided", "autonomous"] | None = None
    profile: str | None = Field(None, max_length=100)


class ChangedSession(Strict):
    """What is to be set anew; what is left out stays."""

    title: str | None = None
    mode: Literal["plan", "build"] | None = None
    trust: Literal["supervised", "guided", "autonomous"] | None = None


class Event(BaseModel):
    """One numbered fact of a session."""

    seq: int
    type: str = Field(examples=["chat:message"])
    payload: Any
    created_at: str = Field(examples=["2026-01-24T10:30:00.000Z"])


class Message(BaseModel):
    """Something that was said in a session; first comes what the model is told before anything else."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = Field(examples=["The tests pass."])
    sort_order: int
    metadata: dict[str, Any] | None = Field(description="The calls of an answer (`tool_calls`), or whose result it is (`tool_call_id`).")


class NewMessage(Strict):
    """What the person says. The model answers by itself; what it says is in the session's events and messages."""

    content: str = Field(min_length=1, examples=["Fix the tests"])
    model: str | None = Field(None, max_length=200, examples=["anthropic/claude-sonnet-4-5"])
    profile: str | None = Field(None, max_length=100, examples=["coder"])


class AtEvent(Strict):
    """A place in a session's log."""

    event: int = Field(ge=0, le=2**53, examples=[12])


class Rewind(AtEvent):
    """Where to take the files back to."""

    dry_run: bool = Field(False, description="Only tell what would be done.")


class Running(BaseModel):
    """Whether a turn of a session runs."""

    session_id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
    running: bool


class Approval(BaseModel):
    """A call that waits for a person's yes, or what became of it."""

    id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
    session_id: str
    call_id: str
    tool: str = Field(examples=["bash"])
    input: Any
    reason: str
    effects: Any
    effects_hash: str | None
    state: str = Field(examples=["pending"])
    feedback: str
    decided_by: str
    created_at: str = Field(examples=["2026-01-24T10:30:00.000Z"])
    expires_at: str | None


class EffectDiff(BaseModel):
    """One effect of a command that waits for a decision."""

    n: int
    path: str = Field(examples=["/src/app.py"])
    kind: str = Field(examples=["changed"])
    diff: str | None


class KeptPath(Strict):
    """An effect, or a folder that stands for all below it."""

    path: str = Field(min_length=1, max_length=4096, examples=["/src/app.py"])


KeptPaths: TypeAlias = Annotated[list[KeptPath], Field(min_length=1)]


class Decision(Strict):
    """A person's decision. One about effects names the hash of those that were looked at."""

    approved: bool = Field(examples=[True])
    input: dict[str, Any] | None = Field(None, description="Other arguments, which are judged like any.")
    feedback: str = ""
    effects_hash: str | None = None
    keep: KeptPaths | Literal["all"] | None = Field(None, description="Which effects to keep, when it is not all of them.")
    remember: Literal[False] | None = Field(None, description="Decisions cannot be remembered yet.")


class Model(BaseModel):
    """A model that can be named."""

    id: str = Field(examples=["anthropic/claude-sonnet-4-5"])
    provider: str = Field(examples=["anthropic"])
    context_window: int | None = Field(description="In tokens; null when nobody says.")
    supports_tools: bool
    reachable: bool


class ProfileInfo(BaseModel):
    """What makes an agent."""

    name: str = Field(examples=["coder"])
    origin: str = Field(examples=["shipped"])
    description: str
    mode: str | None = Field(examples=["build"])
    trust: str | None
    model: str | None
    tools: list[str]
    usable: bool = Field(description="False when there are mistakes in it; `holdfast profile check` names them.")


class Question(BaseModel):
    """What the model asked the person."""

    id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
    session_id: str
    call_id: str
    state: str = Field(examples=["pending"])
    questions: Any
    answers: Any
    created_at: str = Field(examples=["2026-01-24T10:30:00.000Z"])
    expires_at: str | None


class Answers(Strict):
    """The person's answers, by the names of the questions."""

    answers: dict[str, Any] = Field(examples=[{"framework": "Vitest"}])


class Restore(Strict):
    """Which version is to be the newest again."""

    version_id: str = Field(examples=["019b97ac-e5f5-735b-b0a6-f3a34fcd4ff1"])
