"""How far an agent is trusted, and when a person is asked."""

from enum import Enum


class Trust(Enum):
    """`supervised`: every call is asked for. `guided`: those that change something. `autonomous`: none.

    It says what is asked for, and never what may be done.
    """

    SUPERVISED = "supervised"
    GUIDED = "guided"
    AUTONOMOUS = "autonomous"

    def at_most(self, other: "Trust") -> "Trust":
        """The one of the two that asks more.

        >>> Trust.AUTONOMOUS.at_most(Trust.GUIDED)
        <Trust.GUIDED: 'guided'>
        """
        every = list(Trust)
        return min(self, other, key=every.index)


class When(Enum):
    """When a guided agent asks about a command: `before` it runs, or about its `effects` when it has."""

    BEFORE = "before"
    EFFECTS = "effects"
