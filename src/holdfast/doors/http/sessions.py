"""Sessions, what is said in them, their events, and the questions that they put to the person."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from holdfast.agent.sessions import Sessions
from holdfast.app.talk import SessionChange
from holdfast.dispatch.person import SessionPerson, shown_question
from holdfast.vocabulary.errors import Conflict, Forbidden
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.mode import Mode
from holdfast.vocabulary.trust import Trust

from .door import Door
from .models import Answers, AtEvent, ChangedSession, Event, Message, NewMessage, NewSession, Question, Rewind, Running, Session
from .responses import errors

Number = Annotated[int, Query(ge=0, le=2**53)]
Many = Annotated[int, Query(ge=1, le=1000)]


def session_routes(door: Door) -> APIRouter:
    """The routes, bound to the door."""
    routes = APIRouter(prefix="/workspaces/{workspace_id}", tags=["sessions"])

    async def sessions(request: Request, workspace_id: str) -> Sessions:
        await door.member(request.scope, workspace_id)
        held = await door.platform.hold(workspace_id)
        return Sessions(door.platform.database, held.lease)

    async def person(request: Request, workspace_id: str) -> tuple[SessionPerson, str]:
        identity, _ = await door.member(request.scope, workspace_id)
        return (await door.platform.hold(workspace_id)).person, identity.user_id

    async def may_set(request: Request, workspace_id: str, *, trust: str | None, mode: str | None = None) -> None:
        """Whoever may not change things cannot have a model do it unasked for somebody else."""
        _, may_endanger = await door.caller(request.scope, workspace_id)
        if not may_endanger and (trust not in (None, Trust.SUPERVISED.value) or mode == Mode.BUILD.value):
            raise Forbidden("you may not let anything run here that changes things")

    async def told(workspace_id: str, shown: dict[str, Any]) -> Session:
        agents = await door.platform.agents(workspace_id)
        await agents.was_set(shown)
        return Session(**shown)

    @routes.get("/sessions", responses=errors(400, 401))
    async def list_sessions(request: Request, workspace_id: str, limit: Many = 100) -> list[Session]:
        """The sessions, the last used first."""
        return [Session(**each) for each in await (await sessions(request, workspace_id)).latest(limit=limit)]

    @routes.post("/sessions", status_code=201, responses=errors(400, 401, 409))
    async def create_session(request: Request, workspace_id: str, body: NewSession) -> Session:
        """Make a session, under an id that one may choose."""
        found = await sessions(request, workspace_id)
        await may_set(request, workspace_id, trust=body.trust)
        agents = await door.platform.agents(workspace_id)
        profile = await agents.profile(body.profile)
        trust, mode = agents.trust_in(profile, Trust(body.trust) if body.trust else None), body.mode or profile.mode.value
        made = await found.create(session_id=body.id, title=body.title, mode=mode, trust=trust.value, profile=profile.name)
        return await told(workspace_id, made)

    @routes.get("/sessions/{session_id}", responses=errors(401, 404))
    async def get_session(request: Request, workspace_id: str, session_id: str) -> Session:
        """One session."""
        return Session(**await (await sessions(request, workspace_id)).get(session_id))

    @routes.patch("/sessions/{session_id}", responses=errors(400, 401, 404))
    async def change_session(request: Request, workspace_id: str, session_id: str, body: ChangedSession) -> Session:
        """Set title, mode or trust anew."""
        found = await sessions(request, workspace_id)
        await may_set(request, workspace_id, trust=body.trust, mode=body.mode)
        return await told(workspace_id, await found.change(session_id, title=body.title, mode=body.mode, trust=body.trust))

    @routes.delete("/sessions/{session_id}", status_code=204, responses=errors(401, 404))
    async def delete_session(request: Request, workspace_id: str, session_id: str) -> Response:
        """End what runs of the session, and let nobody find it any more."""
        found = await sessions(request, workspace_id)
        await SessionChange(delete=True).make(found, session_id, agents=await door.platform.agents(workspace_id))
        return Response(status_code=204)

    @routes.get("/sessions/{session_id}/events", responses=errors(400, 401, 404))
    async def list_events(
        request: Request, workspace_id: str, session_id: str, after: Number = 0, before: Number | None = None, limit: Many = 1000
    ) -> list[Event]:
        """The session's numbered events."""
        found = await (await sessions(request, workspace_id)).events(session_id, after=after, before=before, limit=limit)
        return [Event(**each) for each in found]

    @routes.get("/sessions/{session_id}/messages", responses=errors(401, 404))
    async def list_messages(request: Request, workspace_id: str, session_id: str) -> list[Message]:
        """What was said, in its order."""
        await door.member(request.scope, workspace_id)
        return [Message(**each) for each in await (await door.platform.agents(workspace_id)).messages(session_id)]

    @routes.post("/sessions/{session_id}/messages", status_code=202, responses=errors(400, 401, 404, 409))
    async def send_message(request: Request, workspace_id: str, session_id: str, body: NewMessage) -> Running:
        """Say something; the model has begun to answer."""
        _, may_endanger = await door.caller(request.scope, workspace_id)
        agents = await door.platform.agents(workspace_id)
        profile = await agents.profile(body.profile, session_id)
        if agents.is_running(session_id):
            raise Conflict("a turn of this session is running", hint="Wait for its end, or cancel it.")
        await agents.start(session_id, body.content, profile if may_endanger else replace(profile, dangerous=False), model=body.model)
        return Running(session_id=session_id, running=True)

    @routes.post("/sessions/{session_id}/cancel", responses=errors(401, 404))
    async def cancel_turn(request: Request, workspace_id: str, session_id: str) -> Running:
        """End the turn that runs; `running` says whether there was one."""
        await (await sessions(request, workspace_id)).get(session_id)
        return Running(session_id=session_id, running=(await door.platform.agents(workspace_id)).cancel(session_id))

    @routes.post("/sessions/{session_id}/fork", status_code=201, responses=errors(400, 401, 404))
    async def fork_session(request: Request, workspace_id: str, session_id: str, body: AtEvent) -> Session:
        """A new session that goes on after an event of this one; files stay as they are."""
        return await told(workspace_id, await (await sessions(request, workspace_id)).fork(session_id, event=body.event))

    @routes.post("/sessions/{session_id}/rewind", responses=errors(400, 401, 404, 409, 507))
    async def rewind_session(request: Request, workspace_id: str, session_id: str, body: Rewind) -> dict[str, Any]:
        """Take back what the session's calls after an event changed; what others have changed since is left alone, and told."""
        await (await sessions(request, workspace_id)).get(session_id)
        if not body.dry_run and (await door.platform.agents(workspace_id)).is_running(session_id):
            raise Conflict("a turn of this session is running", hint="Wait for its end, or cancel it.")
        arguments: dict[str, Json] = {"session": session_id, "event": body.event, "dry_run": body.dry_run}
        return await door.call(request.scope, workspace_id, "rewind", **arguments)

    @routes.get("/questions", tags=["questions"], responses=errors(400, 401))
    async def list_questions(
        request: Request, workspace_id: str, state: Annotated[str, Query(pattern="^(pending|answered|expired)$")] = "pending"
    ) -> list[Question]:
        """What the person was asked."""
        asked, _ = await person(request, workspace_id)
        return [_question(shown_question(each)) for each in await asked.questions(state)]

    @routes.post("/questions/{question_id}/answer", tags=["questions"], responses=errors(400, 401, 404, 409))
    async def answer_question(request: Request, workspace_id: str, question_id: str, body: Answers) -> Question:
        """Answer: each by a button's value, or by its schema."""
        asked, user_id = await person(request, workspace_id)
        return _question(shown_question(await asked.answer(question_id, body.answers, by=user_id)))

    return routes


def _question(shown: dict[str, Any]) -> Question:
    return Question(**shown)
