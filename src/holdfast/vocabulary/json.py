"""What can be said in JSON, as a type."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
else:
    # A signature is read at run time, far from here, where a recursive alias would not find its own names.
    Json = object

JsonObject: TypeAlias = Mapping[str, Json]
