"""The tool host of a workflow's engine: tools as OpenAI functions, calls as JSON text, results that are always JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.app import Holdfast, named_profile
from holdfast.tool.definition import WireNames, openai
from holdfast.vocabulary.call import Caller, ToolCall
from holdfast.vocabulary.errors import UnknownTool
from holdfast.vocabulary.json import Json
from holdfast.vocabulary.outcome import Refused
from holdfast.vocabulary.profile import Profile


@dataclass(frozen=True)
class ToolHost:
    """What an engine needs of a Holdfast to show tools to its model and to run what it asks for.

    `agents` are the profiles of the engine's agents, by their ids; an
    agent that is not there has the profile `fs`.
    """

    holdfast: Holdfast
    agents: Mapping[str, Profile] = field(default_factory=dict[str, Profile])

    def visible_tools(self, profile: str | Profile = "fs") -> list[dict[str, Json]]:
        """The tools that an agent with this profile may see, under names that every provider takes."""
        tools = self.holdfast.tools(named_profile(profile))
        names = WireNames(tool.name for tool in tools)
        return [openai(tool, names.to_wire(tool.name)) for tool in tools]

    async def execute(self, call_id: str, name: str, arguments_json: str, context: Mapping[str, str] | None = None) -> Json:
        """Run one call; the answer always survives `json.dumps`.

        `context` names the agent as `agentId`: its profile holds, and its id goes into the audit log.
        """
        agent = (context or {}).get("agentId", "")
        profile = self.agents.get(agent) or named_profile("fs")
        names = WireNames(tool.name for tool in self.holdfast.tools(profile))
        call = ToolCall(call_id, names.from_wire(name), arguments_json, Caller(agent=agent))
        outcome = await self.holdfast.take(call, profile)
        if isinstance(outcome, Refused) and isinstance(outcome.error, UnknownTool):
            return {"ok": False, "error": {"code": "E_INTERNAL", "message": str(outcome.error)}}
        return json.loads(json.dumps(outcome.answer.body))
