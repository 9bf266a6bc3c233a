"""What Holdfast promises, one line each; tests/test_promises.py demands a test for every promise whose issue has landed.

    @carries("FS-READ-3", "FS-READ-4")
    async def test_a_window_of_lines_counts_from_one_and_includes_its_end(desk: Desk) -> None: ...

Sources: 000 is a studio's tool backend, 001 its architecture, 002 an agent runtime's file tool host, 003 a coding assistant; "settled"
is where they disagree and we decided; "engine" and "ours" are promises that no document made before us.
"""

from dataclasses import dataclass

import pytest

from tests.promises_agent import AGENT as AGENT_TEXTS
from tests.promises_profiles import PROFILES as PROFILE_TEXTS
from tests.promises_rest import REST as REST_TEXTS
from tests.promises_workspace import WORKSPACE as WORKSPACE_TEXTS

LANDED = frozenset({2, 3, 4, 5})


@dataclass(frozen=True)
class Promise:
    id: str
    text: str
    source: str
    issue: int


def carries(*ids: str) -> pytest.MarkDecorator:
    """Say which promises a test shows to be kept. Write the ids as plain strings: they are read from the source."""
    return pytest.mark.carries(*ids)


def _of(source: str, promises: dict[str, str], *, issue: int) -> list[Promise]:
    return [Promise(id, text, source, issue) for id, text in promises.items()]


FS = [
    *_of("002 alias parsing", issue=2, promises={
        "FS-PATH-1": "A path is @mount/rest; the mount alone is its root.",
        "FS-PATH-2": "No mount, or one that is not there, is E_SANDBOX_VIOLATION.",
        "FS-PATH-3": "An absolute path is E_SANDBOX_VIOLATION, spelled for POSIX or for Windows.",
        "FS-PATH-4": "Any .. is E_SANDBOX_VIOLATION, even one that stays inside; a backslash counts as a slash.",
        "FS-PATH-5": "A NUL byte is E_SANDBOX_VIOLATION.",
        "FS-PATH-6": "A link that leads out of its mount is E_SANDBOX_VIOLATION for reading and writing, last in the path or on the way.",
        "FS-PATH-7": "./ or / before the mount, and empty or . parts behind it, change nothing.",
    }),
    *_of("002 mounts", issue=2, promises={
        "FS-MOUNT-1": "@project and @state can be read and written.",
        "FS-MOUNT-2": "@pkg can be read; a write or patch there is E_SANDBOX_VIOLATION.",
        "FS-MOUNT-3": "@state belongs to one run: two runs of a project do not see each other's.",
    }),
    *_of("002 tool host, settled", issue=2, promises={
        "FS-HOST-1": "visible_tools gives the five tools as OpenAI function definitions with names that the wire allows.",
        "FS-HOST-2": "execute takes call id, name, arguments as JSON text and a context; fs_read and fs.read are the same tool.",
        "FS-HOST-3": "Every answer survives json.dumps, whatever bytes the file held.",
        "FS-HOST-4": "The context names the agent, and that agent's max_read_bytes and max_write_bytes hold; without them the defaults do.",
        "FS-HOST-5": "Arguments that are no JSON object, and an unknown tool, are answers with ok false, never exceptions.",
        "FS-HOST-6": "A call that is cancelled stops, changes nothing more and is audited.",
    }),
    *_of("002 tool results", issue=2, promises={
        "FS-RESULT-1": "Success has ok true; an error has ok false and error {code, message, details?} with one of the nine codes.",
        "FS-RESULT-2": "What is not there is ENOENT.",
        "FS-RESULT-3": "path in an answer is the mount path, never one of the host.",
    }),
    *_of("002 definitions", issue=2, promises={
        "FS-SCHEMA-1": "The five schemas have the documented properties, types, minimums and required keys, and allow no others.",
        "FS-SCHEMA-2": "Execution ignores keys that the schema does not know.",
        "FS-SCHEMA-3": "Bad arguments are E_SCHEMA_VALIDATION with every mistake named, and nothing changes on disk.",
    }),
    *_of("002 fs.list", issue=2, promises={
        "FS-LIST-1": "Lists the direct children of a folder, no deeper.",
        "FS-LIST-2": "Leaves out hidden entries and links.",
        "FS-LIST-3": "entries are {name, type, size}.",
        "FS-LIST-4": "Over 200 entries: entriesPreview, truncated true and a hint; exactly 200 come whole.",
        "FS-LIST-5": "A file, or nothing, at the path is an error.",
    }),
    *_of("002 fs.read", issue=2, promises={
        "FS-READ-1": "Without a window gives the whole file as text.",
        "FS-READ-2": "bytes is the whole file's size and sha256 the hash of its bytes, for windows and previews too.",
        "FS-READ-3": "startLine and endLine count from 1 and are both included.",
        "FS-READ-4": "Either end may be left out.",
        "FS-READ-5": "endLine before startLine is E_INTERNAL.",
        "FS-READ-6": "Over the limit: truncated true, contentPreview, and a hint that names startLine, endLine and fs.search.",
        "FS-READ-7": "The limit is 50,000 bytes unless the agent has its own; a file of exactly that size comes whole.",
        "FS-READ-8": "E_READ_LIMIT only when a single line is over the limit.",
        "FS-READ-9": "Bytes that are not UTF-8 do not fail the reading, and are not lost on disk.",
    }),
    *_of("002 fs.search", issue=2, promises={
        "FS-SEARCH-1": "Searches the whole tree below the path.",
        "FS-SEARCH-2": "Without being told: one line before, one after, 50 matches.",
        "FS-SEARCH-3": "Skips .git, node_modules and hidden folders.",
        "FS-SEARCH-4": "A pattern is a plain piece of text: no character in it is special.",
        "FS-SEARCH-5": "A pattern written /…/ or /…/i is a regular expression.",
        "FS-SEARCH-6": "A match has its mount path, its line from 1, and the whole line without its end.",
        "FS-SEARCH-7": "before and after hold that many lines of context, fewer at the file's ends.",
        "FS-SEARCH-8": "Stops at maxMatches and then says truncated true, with stats.",
    }),
    *_of("002 fs.write", issue=2, promises={
        "FS-WRITE-1": "Answers path, bytesWritten and sha256After, which are true of the disk.",
        "FS-WRITE-2": "Over 100,000 bytes (UTF-8), or the agent's limit, is E_WRITE_LIMIT and nothing is written; exactly the limit is.",
        "FS-WRITE-3": "ifMatchSha256 that is not the file's hash is E_PRECONDITION_FAILED and the file stays as it was.",
        "FS-WRITE-4": "Missing parent folders are made, judged at the nearest one that exists.",
        "FS-WRITE-5": "A reader sees the old file or the new one, never a part; no temporary file stays behind.",
    }),
    *_of("002 fs.apply_patch, settled", issue=2, promises={
        "FS-PATCH-1": "updateFrontmatter is the only operation; another is E_SCHEMA_VALIDATION.",
        "FS-PATCH-2": "Works in @state alone; elsewhere E_SANDBOX_VIOLATION.",
        "FS-PATCH-3": "stepsCompleted and artifacts append what is not there yet, each once.",
        "FS-PATCH-4": "variables.set merges one level deep.",
        "FS-PATCH-5": "decisionLog.append adds objects as they are.",
        "FS-PATCH-6": "currentNodeId.set and updatedAt.set replace the value.",
        "FS-PATCH-7": "Operations may be nested or written with dotted keys.",
        "FS-PATCH-8": "The body, unknown front matter and comments stay byte for byte.",
        "FS-PATCH-9": "Front matter that cannot be read is E_INVALID_FRONTMATTER, and the file stays as it was.",
        "FS-PATCH-10": "patch.ifMatchSha256 that is not the file's hash is E_PRECONDITION_FAILED.",
        "FS-PATCH-11": "Answers path, sha256Before and sha256After.",
        "FS-PATCH-12": "The write limit holds for the patched file, and the write is as whole as fs.write's.",
    }),
    *_of("settled: workflow guard", issue=2, promises={
        "FS-FLOW-1": "fs.write and fs.apply_patch refuse a @state/workflow.md without valid front matter: E_INVALID_FRONTMATTER.",
        "FS-FLOW-2": "A field of the wrong shape in it is E_SCHEMA_VALIDATION.",
        "FS-FLOW-3": "currentNodeId moves only along the profile's edges: E_INVALID_TRANSITION; without edges it moves freely.",
        "FS-FLOW-4": "A refused change leaves workflow.md as it was; other files in @state are not guarded.",
    }),
]  # fmt: skip

CORE = [
    *_of("000 sandbox", issue=2, promises={
        "CORE-PATH-1": "A relative path counts from the project.",
        "CORE-PATH-2": "A host path inside a mount works, in the project and in the central folder.",
        "CORE-PATH-3": "../../etc/passwd and /etc/passwd are refused as outside (AC-3).",
        "CORE-PATH-4": "A link inside that leads out is refused as outside (AC-4).",
        "CORE-PATH-5": "An empty path is refused.",
        "CORE-PATH-6": "Project and central folder can both be read and written (AC-5).",
    }),
    *_of("000 file_read", issue=2, promises={
        "CORE-READ-1": "Gives the file's content as output, is_error false (AC-12).",
        "CORE-READ-2": "A missing file is an error result that says file not found (AC-13).",
        "CORE-READ-3": "Over 1 MB the content is cut and a note says so.",
        "CORE-READ-4": "A binary file is content too, not an error.",
        "CORE-READ-5": "Is safe, of category file, and takes one required string, path.",
    }),
    *_of("000 file_write", issue=2, promises={
        "CORE-WRITE-1": "Makes the file or replaces its content.",
        "CORE-WRITE-2": "Makes the parent folders (AC-14).",
        "CORE-WRITE-3": "Empty content makes an empty file.",
        "CORE-WRITE-4": "Says wrote N bytes to the path.",
        "CORE-WRITE-5": "A new file has mode 0644.",
        "CORE-WRITE-6": "Permission denied is an error result.",
        "CORE-WRITE-7": "Is dangerous, of category file, and requires path and content.",
    }),
    *_of("000 tool types", issue=2, promises={
        "TYPE-1": "Categories are file, exec, search, mcp; dangers are safe, dangerous.",
        "TYPE-2": "A permission has allowed, paths and timeout; a scope maps tools' names to permissions.",
        "TYPE-3": "A definition in JSON has name, description and inputSchema (AC-2).",
        "TYPE-4": "A result of core has output, metadata and is_error.",
        "TYPE-5": "No package imports one above it, so there are no cycles (AC-1).",
    }),
    *_of("000 registry, 003 registry", issue=2, promises={
        "REG-1": "get finds a tool by its name and gives nothing for an unknown one.",
        "REG-2": "Two tools of one name are refused.",
        "REG-3": "list_for_scope(None) is every tool (AC-8).",
        "REG-4": "list_for_scope is what the scope allows and nothing else (AC-9).",
        "REG-5": "A scope without permissions leaves file_read and web_search, as far as they exist (AC-10).",
        "REG-6": "Definitions come in neutral, OpenAI and Anthropic form, for a scope too, in the order of registering.",
        "REG-7": "Registering and looking up at once, from many threads, never fails.",
        "REG-8": "fs.list travels as fs_list and comes back; every wire name fits [a-zA-Z0-9_-]{1,64}; clashes are found.",
        "REG-9": "A tool is one file in a toolset's folder, found by looking.",
    }),
    *_of("001 tool permissions, settled", issue=2, promises={
        "SCOPE-1": "A tool outside the scope is not shown, and calling it by name is refused and audited.",
        "SCOPE-2": "allowed: false hides a tool.",
        "SCOPE-3": "paths globs are judged against every mount; ** is all of them; a path outside the globs is refused.",
        "SCOPE-4": "timeout (120s) is the tool's deadline.",
        "SCOPE-5": "A shipped profile permits the whole of its toolsets.",
    }),
]  # fmt: skip

SEARCH = [
    *_of("000 web_search", issue=4, promises={
        "SEARCH-1": "When SearXNG has results they are the output, and is_error is false (AC-18).",
        "SEARCH-2": "When SearXNG is down and Brave is configured, Brave's results are given (AC-19).",
        "SEARCH-3": "When all providers fail, is_error is true (AC-20), and the reason of each is told.",
        "SEARCH-4": "An empty query is an error result.",
        "SEARCH-5": "A provider without results is passed over; when all are without, that is an error result.",
        "SEARCH-6": "An error status of a provider is a failure: with nobody else to ask, an error result.",
        "SEARCH-7": "max_results is respected, and is 5 unless told otherwise.",
        "SEARCH-8": "The output is a numbered list of title, address and snippet.",
        "SEARCH-9": "metadata has provider and resultCount.",
        "SEARCH-10": "Is safe, of category search, requires query (text) and takes max_results (integer, default 5).",
        "SEARCH-11": "SearXNG is asked by GET {base}/search with q, format=json and the engines.",
        "SEARCH-12": "Brave is asked by GET /res/v1/web/search with q and the key in X-Subscription-Token.",
        "SEARCH-14": "A result has title, url, content and, when the provider gave one, a score.",
        "SEARCH-15": "A provider is a name and a search; any other can be put in the place of ours.",
    }),
    *_of("001 tool events", issue=4, promises={
        "SEARCH-16": "web_search shows its output in pieces while it runs; together they are the output.",
    }),
    *_of("settled: web_search", issue=4, promises={
        "SEARCH-13": "Addresses, engines and key are settings: http://localhost:8080; bing,duckduckgo,brave; empty means none.",
        "SEARCH-17": "A server that answers 403 is told to have JSON disabled, with what to set there.",
        "SEARCH-23": "The core and coder profiles have web_search; over REST and the command line it answers as in Python.",
    }),
    *_of("ours: web_search", issue=4, promises={
        "SEARCH-18": "A request has a deadline, slow drips included; what may pass is tried once more, and nothing more than once.",
        "SEARCH-19": "What a server answers is read up to a limit, packed or not, and each text is shortened.",
        "SEARCH-20": "Key and passwords reach the configured server alone: no error, log, audit entry or redirect carries them.",
        "SEARCH-21": "Results are marked as untrusted; control characters and what no reader sees are taken out.",
        "SEARCH-22": "Proxies of the environment are used for what is elsewhere, and not for this machine.",
        "SEARCH-24": "Nothing of HTTP is imported before something is searched.",
    }),
]  # fmt: skip

COMMANDS = [
    *_of("000 bash", issue=4, promises={
        "BASH-1": "echo hello: the output has hello, and metadata.exitCode is 0 (AC-15).",
        "BASH-2": "exit 42: is_error is true and metadata.exitCode is 42 (AC-16); the output is what the command printed.",
        "BASH-3": "A command that runs longer than its timeout is ended: is_error is true, with a timeout message (AC-17).",
        "BASH-4": "It runs in the project's folder.",
        "BASH-5": "Output and errors come together, cut at 100 KB.",
        "BASH-6": "Variables that look like API keys, tokens and secrets are not in its environment; PATH is (AC-7).",
        "BASH-7": "Is dangerous, of category exec, requires command (text) and takes timeout (integer, in seconds).",
        "BASH-8": "A call that is cancelled ends the command, and nothing comes of it.",
        "BASH-9": "60 s is the time of a command unless another is asked for or set; a profile's maximum is never exceeded.",
    }),
    *_of("001 bash", issue=4, promises={
        "BASH-10": "What a command prints is shown while it runs.",
    }),
    *_of("settled: bash", issue=4, promises={
        "BASH-11": "The whole of an output that was cut is in a file that read and file_read can reach, and that tools cannot write.",
        "BASH-12": "metadata tells exit code, duration, peak memory and the effects.",
        "BASH-13": "Over REST and the command line it answers as in Python.",
        "BASH-14": "The environment is an allow-list; HOME is a private folder.",
        "BASH-15": "The core and coder profiles have bash.",
    }),
    *_of("settled: effects", issue=4, promises={
        "EFFECT-1": "effects: keep, drop or hold beside args; keep is the default, and is done before the answer.",
        "EFFECT-2": "Held effects are kept whole or in part, or dropped, once, also after a restart.",
        "EFFECT-3": "A keep over what has changed meanwhile changes nothing, and names what it was.",
        "EFFECT-4": "Protected paths are left out of a keep and named; those of git are kept when a person says so.",
        "EFFECT-5": "In plan mode nothing comes of a command's effects.",
        "EFFECT-6": "What is kept is a version, with the call that made it, and can be undone.",
        "EFFECT-7": "Where a profile's tools may not read protected files, commands see them empty, and that is no effect.",
        "EFFECT-8": "The effects of a command are approved by their hash; others than those that were looked at are not kept.",
    }),
    *_of("ours: commands", issue=4, promises={
        "COMMAND-1": "A command is on record before it runs; after a crash its call is closed as what really happened.",
        "COMMAND-2": "Commands that cannot be confined are refused, with what to install, unless a person wrote that they understand.",
        "COMMAND-3": "What earlier processes left of layers is swept; pending ones stay.",
    }),
]  # fmt: skip

SIMPLE = [
    *_of("003 read_file", issue=2, promises={
        "SIMPLE-1": "read_file gives the whole text of a file, at the root or deeper, without isError.",
        "SIMPLE-2": "A missing file is an error that says file not found and names the path.",
        "SIMPLE-3": "A path that leads out, by .. or by a link, is an error that says outside.",
        "SIMPLE-4": "A missing or empty path is an error that names path.",
        "SIMPLE-5": "A folder is an error that points to list_directory.",
        "SIMPLE-6": "Over 1 MB the text is cut and says so.",
    }),
    *_of("003 list_directory", issue=2, promises={
        "SIMPLE-7": "list_directory gives one name a line, folders with a slash at the end.",
        "SIMPLE-8": "Without a path, with an empty one and with . it lists the project.",
        "SIMPLE-9": "A missing folder is an error that names the path.",
        "SIMPLE-10": "A file is an error that says not a directory.",
        "SIMPLE-11": "A path that leads out is an error that says outside.",
    }),
    *_of("003 definitions", issue=2, promises={
        "SIMPLE-12": "read_file requires path, list_directory requires nothing; both describe paths as relative to the project.",
        "SIMPLE-13": "Every error's text begins with Error.",
    }),
]  # fmt: skip

ALL_DIALECTS = [
    *_of("settled: paths", issue=2, promises={
        "DIALECT-1": "The same file seen through every dialect has the same text, size and hash.",
        "DIALECT-2": "A path in another dialect's language is an error that shows the right form.",
        "DIALECT-3": "Results keep their document's field names through Python and the command line.",
        "DIALECT-4": "Argument names are accepted in camel or snake case; what is inside content, update or answers is never renamed.",
    }),
    *_of("settled: mounts", issue=2, promises={
        "MOUNT-1": "@project is the workspace's root.",
        "MOUNT-2": "@central can be written, and lives under HOLDFAST_HOME unless it is mounted elsewhere.",
        "MOUNT-3": "@state is per run, one per workspace without a run, and lives under HOLDFAST_HOME unless it is mounted elsewhere.",
        "MOUNT-4": "@pkg is there only when it is mounted.",
        "MOUNT-5": "A read-only mount refuses every change, in every dialect.",
    }),
    *_of("settled: protected paths", issue=2, promises={
        "PROT-1": ".env and .env.* are protected, .env.example is not (AC-6).",
        "PROT-2": ".git/config and everything in .git/hooks are protected.",
        "PROT-3": "Names with credential or secret in them, and private keys, are protected.",
        "PROT-4": "Every part of the path is matched, whatever its case.",
        "PROT-5": "Writing a protected path is refused in every dialect.",
        "PROT-6": "Reading one is refused in core, simple and fs.",
        "PROT-7": "No tool writes into @state/logs or Holdfast's own state.",
        "PROT-8": "Matches in protected paths are dropped before they are counted.",
    }),
    *_of("settled: the road", issue=2, promises={
        "ROAD-1": "An unknown tool is an error result that says Unknown tool.",
        "ROAD-2": "Bad arguments are answered with all mistakes at once, each naming its argument, with a code that does not change.",
        "ROAD-3": "A tool that outlives its deadline is ended and answered with an error; 60 s unless told otherwise.",
        "ROAD-4": "A cancelled call stops and is recorded as cancelled.",
        "ROAD-5": "A call that cannot be judged or recorded is refused, never run.",
        "ROAD-6": "A path violation is an error result that the caller sees, not an exception.",
        "ROAD-7": "outside, not a directory, file not found and Unknown tool are in the messages.",
        "ROAD-8": "file_write, fs.write and fs.apply_patch are dangerous; the other file tools are safe.",
        "ROAD-9": "No tool's answer, and no error, shows a stack trace or a path of the host.",
    }),
    *_of("002 audit, settled", issue=2, promises={
        "AUDIT-1": "Exactly one line a call in @state/logs/execution.jsonl: done, refused, failed, cancelled, unknown tool.",
        "AUDIT-2": "A line has ts (ISO 8601), kind tool.exec, toolCallId, toolName, agentId, input, output and durationMs.",
        "AUDIT-3": "No whole contents: sizes, hashes and previews of at most 1 KB.",
        "AUDIT-4": "A refused path's line has its mount, normalised path and reason.",
        "AUDIT-5": "Many calls at once leave whole lines.",
        "AUDIT-6": "A secret in arguments or files does not reach the log.",
    }),
]  # fmt: skip

ENGINE = [
    *_of("engine: paths", issue=2, promises={
        "PATH-1": "A path that is not valid UTF-8, holds NUL, or is over 4 KiB or 255 bytes a part is refused with the reason.",
        "PATH-2": "The kernel resolves beneath the mount's root; what leads out is a violation, a magic link too.",
        "PATH-3": "An absolute link that points back inside is refused, and the message says why.",
        "PATH-4": "A FIFO, device or socket is refused without being opened, and nothing waits.",
        "PATH-5": "Links swapped in a race let no read, write, list, search, glob, find or walk out.",
        "PATH-6": "Without openat2 the answers are the same.",
        "PATH-7": "Links met on a walk are listed as links and not followed.",
        "PATH-8": "Replacing breaks a hard link, and never writes through it.",
        "PATH-9": "A name of 255 bytes can be written.",
        "PATH-10": "ripgrep runs only confined and without the user's configuration; the search in process gives the same matches.",
        "PATH-11": "Large reads, hashes, long listings and writes leave the event loop free.",
        "PATH-12": "A hash is never stale: not after a write of the same size whose time was set back.",
        "PATH-13": "Blanks around a path are trimmed once, before any check.",
        "PATH-14": "Engine functions take only places that resolve made; a list of paths gives a place or an error for each.",
    }),
    *_of("engine: writes", issue=2, promises={
        "WRITE-1": "A writer killed at any moment leaves the old file or the new one, whole.",
        "WRITE-2": "Of two writers with the same precondition one wins and the other hears of it; no update is lost.",
        "WRITE-3": "Replacing keeps owner, group, mode and user xattrs.",
        "WRITE-4": "A new entry gets its parent's owner and group.",
        "WRITE-5": "setuid and setgid are never kept.",
        "WRITE-6": "A full or read-only disk is a clear error with nothing half-written left.",
        "WRITE-7": "Edits keep a BOM, line ends and what is not UTF-8 elsewhere in the file.",
    }),
    *_of("engine: operations", issue=2, promises={
        "ENGINE-1": "A window of lines counts from either end and knows the total, without reading a large file whole.",
        "ENGINE-2": "Text, binary and encoding are told apart.",
        "ENGINE-3": "A replacement needs its text exactly once; missing or repeated text changes nothing.",
        "ENGINE-4": "An insertion goes before its line, or at the end; beyond it is an error.",
        "ENGINE-5": "An edit made from an old hash changes nothing.",
        "ENGINE-6": "glob: * stays in a folder, **/ goes deeper; find judges by name, type, size and time.",
        "ENGINE-7": "move, remove, mkdir and touch refuse what would lose something, and say what.",
    }),
]  # fmt: skip

OURS = [
    *_of("ours: command line and Python", issue=2, promises={
        "CLI-1": "holdfast tools lists a profile's tools, as text or JSON.",
        "CLI-2": "holdfast call puts the result on stdout and exits 0, 1 for a tool's error, 2 for a refusal.",
        "CLI-3": "Arguments are key=value or --args JSON.",
        "CLI-4": "holdfast doctor tells what the kernel and the machine have, what is missing and how to get it.",
        "CLI-5": "holdfast --help imports nothing that it does not use.",
        "PY-1": "Holdfast.open(folder) gives an object whose call runs any tool by name.",
        "PROPERTY-1": "Arguments generated from the schemas never crash a tool and change no file that was not named.",
        "NEWTOOL-1": "make new-tool writes one file, and the tool is there.",
    }),
    *_of("ours: commands for people", issue=4, promises={
        "PEOPLE-1": "holdfast history lists the versions of a file: number, when, who, what and size; also of a deleted one.",
        "PEOPLE-2": "holdfast diff compares two versions, named by number or id; coloured at a terminal unless NO_COLOR is set.",
        "PEOPLE-3": "holdfast restore brings a version back; without one, the newest that is not what the file says now.",
        "PEOPLE-4": "holdfast undelete brings back what was deleted last at a path; alone it lists what can be brought back.",
        "PEOPLE-5": "A path is taken as it is typed, from the current folder or absolute, in the project that it is in.",
        "PEOPLE-6": "They leave with the codes of call, print JSON with --json, and pass the call on to a running server.",
        "PEOPLE-7": "Control characters in names and contents are shown at a terminal and never obeyed.",
        "PEOPLE-8": "holdfast undo takes back what a call did to files, the last or a named one; what changed since is named and stays.",
    }),
]  # fmt: skip

REST = [promise for source, promises in REST_TEXTS.items() for promise in _of(source, promises, issue=3)]
WORKSPACE = [promise for source, promises in WORKSPACE_TEXTS.items() for promise in _of(source, promises, issue=3)]

PROMISES = [*FS, *CORE, *COMMANDS, *SEARCH, *SIMPLE, *ALL_DIALECTS, *ENGINE, *OURS, *REST, *WORKSPACE]
PROMISES.extend(promise for source, promises in PROFILE_TEXTS.items() for promise in _of(source, promises, issue=5))
PROMISES.extend(promise for source, promises in AGENT_TEXTS.items() for promise in _of(source, promises, issue=5))
