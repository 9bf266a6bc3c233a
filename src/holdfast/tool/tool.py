"""What a tool is: one typed function, from which everything else is made."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias, overload

from holdfast.vocabulary.json import Json
from holdfast.workspace.place import Asks

from .dialect import Dialect
from .docstring import parse_docstring
from .schema import Parameter, object_schema, parameters_of


class Category(Enum):
    """What kind of work a tool does."""

    FILE = "file"
    EXEC = "exec"
    SEARCH = "search"
    MCP = "mcp"


class Danger(Enum):
    """Whether a person may want to be asked first."""

    SAFE = "safe"
    DANGEROUS = "dangerous"


class Audience(Enum):
    """Who may use a tool: a model and everybody else, or only people."""

    MODEL = "model"
    PERSON = "person"


Runner: TypeAlias = Callable[..., Awaitable[object]]
Claim: TypeAlias = Callable[[Mapping[str, object]], bool]


@dataclass(frozen=True)
class Declaration:
    """A function that was declared to be a tool, before its toolset is known."""

    function: Runner
    category: Category
    danger: Danger
    audience: Audience
    seconds: float | None
    writes_plans: Claim | None
    safe_if: Claim | None
    keeps_time: bool = False
    changes_unnamed: bool = False


@overload
def tool(function: Runner, /) -> Declaration: ...
@overload
def tool(
    *,
    category: Category = ...,
    danger: Danger = ...,
    audience: Audience = ...,
    seconds: float | None = ...,
    writes_plans: Claim | None = ...,
    safe_if: Claim | None = ...,
    keeps_time: bool = ...,
    changes_unnamed: bool = ...,
) -> Callable[[Runner], Declaration]: ...
def tool(
    function: Runner | None = None,
    /,
    *,
    category: Category = Category.FILE,
    danger: Danger = Danger.SAFE,
    audience: Audience = Audience.MODEL,
    seconds: float | None = None,
    writes_plans: Claim | None = None,
    safe_if: Claim | None = None,
    keeps_time: bool = False,
    changes_unnamed: bool = False,
) -> Declaration | Callable[[Runner], Declaration]:
    """Declare a function to be a tool: its signature is the schema and the request for rights, its docstring is what the model reads.

    `seconds` is how long it may run, when that is not the profile's usual time.
    `writes_plans` is given the arguments and says whether this call writes
    a plan, which is all that may change in plan mode. `safe_if` is given
    them too, and says whether this call of a dangerous tool is safe. A
    tool that `keeps_time` is not stopped by the road's clock: it ends
    what it runs itself, within the context's `seconds`. One that
    `changes_unnamed` changes files that its arguments do not name by a
    path, so nothing comes of it in plan mode.
    """

    def declare(function: Runner) -> Declaration:
        return Declaration(function, category, danger, audience, seconds, writes_plans, safe_if, keeps_time, changes_unnamed)

    return declare if function is None else declare(function)


@dataclass(frozen=True)
class Tool:
    """A tool of a toolset: what was declared, as its dialect says it."""

    name: str
    toolset: str
    dialect: Dialect
    declaration: Declaration

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments that callers give."""
        return parameters_of(self.declaration.function, self._told[1], self.dialect.wire_name)

    @cached_property
    def schema(self) -> dict[str, Json]:
        """The JSON schema of the arguments."""
        return object_schema(self.parameters, closed=self.dialect.closed)

    @property
    def description(self) -> str:
        """What the model reads."""
        return self._told[0]

    @property
    def category(self) -> Category:
        """What kind of work it does."""
        return self.declaration.category

    @property
    def danger(self) -> Danger:
        """Whether a person may want to be asked first; some calls of a dangerous tool may be safe all the same."""
        return self.declaration.danger

    def is_dangerous_with(self, arguments: Mapping[str, object]) -> bool:
        """Whether a person may want to be asked before a call with these arguments."""
        safe_if = self.declaration.safe_if
        return self.danger is Danger.DANGEROUS and (safe_if is None or not safe_if(arguments))

    @property
    def asks(self) -> tuple[Asks, ...]:
        """What its signature asks for."""
        return tuple(each.asks for each in self.parameters if each.asks is not None)

    @cached_property
    def validator(self) -> Any:
        """Checks arguments against the schema; extra keys are taken out before it is asked."""
        import jsonschema_rs

        return jsonschema_rs.validator_for(self.schema, mask="\N{MIDDLE DOT}")

    @cached_property
    def _told(self) -> tuple[str, dict[str, str]]:
        return parse_docstring(self.declaration.function.__doc__ or "")
