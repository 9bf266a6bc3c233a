"""What trust and profiles promise; landed by issue 5."""

PROFILES = {
    "settled: trust": {
        "TRUST-1": "A safe tool is asked for when trust is supervised, and otherwise not (AC-21).",
        "TRUST-2": "A file tool that changes is asked for before, with its diff, unless trust is autonomous (AC-22).",
        "TRUST-3": "A command without a channel out is asked for before, or runs and is asked about by its effects, as the profile says.",
        "TRUST-4": "A command with a channel out, and a tool of another server that is not read-only, is asked for before; "
        "autonomous asks for nothing (AC-23).",
        "TRUST-5": "A question says which trust, tool or way out made it necessary.",
        "TRUST-6": "The person's choice for a session goes before the profile's trust, and that before the setting; "
        "a project's profile only lowers it.",
        "TRUST-7": "No trust level lets a call run that the profile does not permit.",
        "TRUST-8": "Over REST and on the command line nobody is asked.",
    },
    "001 pattern 6, settled: profiles": {
        "PROFILE-1": "tool_permissions of a profile are exactly its tools; paths and timeout (120s, 2m) hold.",
        "PROFILE-2": "A custom profile without tool_permissions, or with empty ones, has file_read and web_search, whatever its toolsets.",
        "PROFILE-3": "The shipped profiles ask before, coder about effects; planner's sessions begin in plan mode.",
        "PROFILE-4": "A profile's limits hold for its agent: turns, times, and sizes such as 50KB.",
        "PROFILE-5": "A profile's workflow edges guard @state/workflow.md.",
        "PROFILE-6": "A profile's mounts are there when a project is opened with it, and its env reaches commands.",
    },
    "ours: profile files": {
        "PROFILE-7": "A profile is found by its name in the person's folder, among the shipped ones, and in the project's folder.",
        "PROFILE-8": "A project's profile never takes the place of the person's or of a shipped one.",
        "PROFILE-9": "All mistakes of a file are told at once, each with its line and what is allowed there; unknown keys are mistakes.",
        "PROFILE-10": "A project's profile cannot be autonomous, mount, set or pass variables, or raise limits beyond what is usual.",
        "PROFILE-11": "No file, whatever is in it, does anything but give a profile or a list of mistakes.",
        "PROFILE-12": "call, tools and Holdfast.open take custom profiles; a call that is passed on takes its profile along.",
        "PROFILE-13": "holdfast profile list, show and check: what there is, what it says, and what is wrong with it.",
        "PROFILE-14": "What profile show prints is a profile file that says the same.",
    },
}
