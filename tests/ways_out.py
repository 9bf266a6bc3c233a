"""The ways out that tests/test_escapes.py tries; what they go through is laid out there."""

# Paths in a mount, to be spelled as the tool spells them; none of them may be done.
LEADING_OUT = [
    "../outside/canary.txt", "..", "../", "sub/../../outside/canary.txt", "sub/sub2/../../../outside/canary.txt",
    "./../outside/canary.txt",
    "sub/./.././../outside/canary.txt", "//..//outside//canary.txt", "inside.md/../../outside/canary.txt",
    "../project/../outside/canary.txt",
    "../" * 40 + "etc/passwd", "sub/" + "../" * 200 + "etc/passwd",
    "absolute", "relative", "folder", "folder/canary.txt", "whole", "whole/canary.txt", "whole/folder/canary.txt", "whole/new.txt",
    "chain1", "chain2", "sub/chain3", "middle", "middle/canary.txt", "winding", "slash", "slash/etc/passwd", "folder/new/deep/er.txt",
    "proc-root", "proc-root/canary.txt", "proc-cwd", "proc-cwd/pyproject.toml", "proc-fd", "proc-fd/0", "proc-environ", "loop", "loop1/x",
    "dangling-out", "dangling-absolute", "null", "zero", "sub/../absolute", "sub/../folder/canary.txt",
    "fifo", "socket", "device", "fifo/x", "socket/../fifo",
]  # fmt: skip

# None of these may be done by a tool that may not touch what is protected.
PROTECTED = [
    ".env", ".ENV", "./.env", "sub/../.env", "sub/.ENV.local", "sub/.env.LOCAL", "id_rsa", "ID_RSA", "My-Credentials.json", "deep.SECRET",
    ".git/config", ".GIT/CONFIG", ".git/hooks/pre-commit", ".git/./hooks/pre-commit", ".git//hooks//pre-commit", "x.pem", "X.PEM",
    "to-protected", "to-hooks/pre-commit", "to-key", ".git/hooks", ".env/", ".git/x/../hooks/pre-commit", ".git/hooks/new",
]  # fmt: skip

# Of these, the links that a tool may move or remove which means the link itself.
LINKS_TO_PROTECTED = ["to-protected", "to-key"]

# Whatever these mean to a tool, they must not lead out; some are names like any other, and may be done.
ODD = [
    # NUL, and what is as long as it can be or longer
    "inside.md\0", "\0", "inside.md\0.txt", "sub\0/../../outside/canary.txt",
    "a" * 255, "a" * 256, "\N{SNOWMAN}" * 85, "\N{SNOWMAN}" * 86, "y" * 5000, "x/" * 50_000, "../" * 50_000,
    ("n" * 255 + "/") * 15 + "n" * 200, ("n" * 255 + "/") * 15 + "n" * 255, ("n" * 255 + "/") * 16,
    # what only looks like dots and slashes, in composed and decomposed form, from right to left, or is half a character
    "\uff0e\uff0e/outside/canary.txt", "\u2024\u2024/outside/canary.txt", "..\u2215outside\u2215canary.txt", "..\uff0foutside",
    "\u202e../outside/canary.txt", "..\u200b/outside/canary.txt", "\ufeff../outside/canary.txt", "\u00e9.md", "e\u0301.md", "\ud800",
    "\udc80x",
    # another system's
    "..\\outside\\canary.txt", "sub\\..\\..\\outside", "\\\\server\\share", "\\..\\..", "inside.md\\", "C:\\x", "C:..\\x", "CON", "NUL",
    # dots and blanks at the ends
    "inside.md.", "inside.md ", "inside.md...", " inside.md", "inside.md/", "inside.md/.", "... ", "...", ". .", ".. ", " ..", ".env ",
    ".env.",
    # what a server, a shell or a pattern would make of it
    "%2e%2e/outside/canary.txt", "..%2foutside%2fcanary.txt", "..%c0%afoutside", "%00", "..%252f..", "&#46;&#46;/outside", "..;/outside",
    "~", "~/canary.txt", "~root/.bashrc", "$HOME/x", "${PWD}/../outside", "`id`", "$(id)", "*", "**/*", "?", "[a-z]*", "{a,b}", "-rf",
    "--files",
    "inside.md\n", "inside.md\r\n../outside", "inside.md\t", "\x1b[2J", "\x7f", "a\nb", "|cat", ";id",
    # mounts within mounts, and links that lead nowhere
    "@project/@state", "@state/@project/inside.md", "@PROJECT/inside.md", "@project@state/x", "@project/../@state/x", "@", "@@project",
    "@project:x",
    "loop2", "dangling", "dangling/x", "middle/..",
]  # fmt: skip

# Said as they are, in no dialect.
RAW = [
    "/etc/passwd", "/etc", "/", "//", "///etc/passwd", "/../etc/passwd", "/./etc/passwd", "/proc/self/root/etc/passwd",
    "/proc/self/environ",
    "/proc/self/cwd", "/proc/self/fd/0", "/proc/1/root", "/dev/zero", "/dev/stdin", "/dev/fd/0", "/sys", "file:///etc/passwd",
    "file://{outside}",
    "file:{outside}/canary.txt", "http://localhost/x", "\\\\?\\C:\\x", "{outside}/canary.txt", "{outside}", "{outside}/new.txt",
    "{root}/../outside",
    "{root}/../outside/canary.txt", "{root}2/x", "{root}/absolute", "{root}/folder/canary.txt", "{state}/absolute",
    "{state}/folder/canary.txt",
    "@state/../outside", "@state/folder/canary.txt", "@state/absolute", "@state/logs/execution.jsonl", "@state\\..\\..\\..\\outside",
    "@state/.env",
    "@central/../state/default/inside.md", "@project\\..\\outside", "@project/%2e%2e/outside", "@nowhere/../project/inside.md",
    "@project/~",
    "", " ", "\n", ".", "./", "@project/", "@project//", "@project/.", "@state", "@central", "@pkg/x", "@project\0/x", "@/etc/passwd",
    "@../x",
]  # fmt: skip
