"""The bodies of requests and answers, as OpenAPI tells them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A body whose unknown fields are mistakes."""

    model_config = ConfigDict(extra="forbid")


class ErrorBody(BaseModel):
    """Every error looks like this."""

    success: Literal[False] = False
    error: str = Field(examples=["file not found: /notes.md. Check the path, or list the directory."])
    code: str = Field(examples=["NOT_FOUND"])
    fields: dict[str, str] | None = Field(None, description="For bad arguments: what is wrong with each.")


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

    name: str
    description: str
    inputSchema: dict[str, Any]  # noqa: N815 - the name that clients know
    toolset: str
    category: str
    danger: str


class User(BaseModel):
    """Who is asking."""

    id: str
    email: str
    full_name: str


class Workspace(BaseModel):
    """The files of one project."""

    id: str
    name: str
    root: str
    owner_id: str
    created_at: str


class NewWorkspace(Strict):
    """A workspace to make. Without a root it gets a folder in the server's own data folder."""

    name: str = Field(min_length=1, max_length=200, examples=["My project"])
    root: str | None = Field(None, description="A folder on the server; only for the server's own local user.")


class ChangedWorkspace(Strict):
    """What is to be set anew."""

    name: str = Field(min_length=1, max_length=200)


class Session(BaseModel):
    """A conversation."""

    id: str
    workspace_id: str
    title: str
    mode: str
    trust: str
    profile: str
    state: str
    last_seq: int
    created_at: str
    updated_at: str


class NewSession(Strict):
    """A session to make."""

    id: str | None = Field(None, min_length=1, max_length=200)
    title: str = ""
    mode: Literal["plan", "build"] = "build"
    trust: Literal["supervised", "guided", "autonomous"] = "guided"
    profile: str = Field("coder", max_length=100)


class ChangedSession(Strict):
    """What is to be set anew; what is left out stays."""

    title: str | None = None
    mode: Literal["plan", "build"] | None = None
    trust: Literal["supervised", "guided", "autonomous"] | None = None


class Event(BaseModel):
    """One numbered fact of a session."""

    seq: int
    type: str
    payload: Any
    created_at: str


class Question(BaseModel):
    """What the model asked the person."""

    id: str
    session_id: str
    call_id: str
    state: str
    questions: Any
    answers: Any
    created_at: str
    expires_at: str | None


class Answers(Strict):
    """The person's answers, by the names of the questions."""

    answers: dict[str, Any] = Field(examples=[{"framework": "Vitest"}])


class Restore(Strict):
    """Which version is to be the newest again."""

    version_id: str
