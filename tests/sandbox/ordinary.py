"""What developers do all day, and what it must say inside a sandbox.

In a script `PROJECT` is the project's path, and `PACKAGES` a read-only mount with pytest and pip in it.
"""

from dataclasses import dataclass

_COMMIT = "git -c user.name=me -c user.email=me@here commit -q"
_HELLO = """
cat > hello.c <<'END'
#include <stdio.h>
#include <math.h>
int main(int n, char **a) { printf("hello %.1f\\n", sqrt(n * 4.0)); }
END
"""


@dataclass(frozen=True)
class Ordinary:
    """A script that must leave with 0 and say this; `package` is what Debian calls the program that it needs, if it may be missing."""

    name: str
    script: str
    says: str
    package: str = ""


ORDINARY = [
    Ordinary("echo", "echo hello", "hello"),
    Ordinary("a pipe", "printf 'b\\na\\nb\\n' | sort | uniq -c | sort -rn | head -1", "2 b"),
    Ordinary("a here-document", "cat <<END\none\n$(echo two)\nEND", "one\ntwo"),
    Ordinary("errors and output in order", "echo one; echo two >&2; echo three", "one\ntwo\nthree"),
    Ordinary("a background job", "(sleep 0.05; echo later) & echo first; wait; echo last", "first\nlater\nlast"),
    Ordinary("a subshell and variables", "x=1; (x=2; echo $x); echo $x; set -- a b; echo $#", "2\n1\n2"),
    Ordinary("a loop and arithmetic", "i=0; while [ $i -lt 5 ]; do i=$((i+1)); done; echo $i", "5"),
    Ordinary("traps", "trap 'echo bye' EXIT; echo hi", "hi\nbye"),
    Ordinary("a new file", "echo text > new.txt && cat new.txt", "text"),
    Ordinary("a changed file", "echo second >> notes.txt && cat notes.txt", "first\nsecond"),
    Ordinary("sed in place", "sed -i s/first/1st/ notes.txt && cat notes.txt", "1st"),
    Ordinary("rename and remove", "mv notes.txt other.txt && ls && rm other.txt && ls | wc -l", "other.txt\n0"),
    Ordinary("folders", "mkdir -p a/b/c && touch a/b/c/d && find a -type f && rm -r a && test ! -e a && echo gone", "a/b/c/d\ngone"),
    Ordinary("a folder made, renamed and moved into", "mkdir x && mv x y && touch y/z && ls y", "z"),
    Ordinary("links", "ln -s notes.txt link && cat link && ln notes.txt hard && stat -c %h hard", "first\n2"),
    Ordinary("modes", "chmod 755 notes.txt && stat -c %a notes.txt", "755"),
    Ordinary("times", "touch -d 2020-01-02 notes.txt && date -r notes.txt +%Y", "2020"),
    Ordinary("the same path as outside", "pwd", "PROJECT"),
    Ordinary("an absolute path", "cat PROJECT/notes.txt", "first"),
    Ordinary("who am I", "whoami; id -u; echo $HOME; cd ~ && pwd", "holdfast\n1000\n/home/holdfast\n/home/holdfast"),
    Ordinary("temporary files", "f=$(mktemp) && echo t > $f && cat $f && d=$(mktemp -d) && rmdir $d && echo ok", "t\nok"),
    Ordinary("tar and gzip", "mkdir t && echo 1 > t/1 && tar czf t.tgz t && rm -r t && tar xzf t.tgz && cat t/1", "1"),
    Ordinary(
        "a file with holes, copied",
        "truncate -s 1M big && cp big copy && cmp big copy && du -k copy | cut -f1 | grep -qE '^[0-9]+$' && echo same",
        "same",
    ),
    Ordinary(
        "find and xargs", "for i in 1 2 3; do echo $i > f$i; done; find . -name 'f?' -print0 | xargs -0 cat | sort | tr -d '\\n'", "123"
    ),
    Ordinary("grep and awk", "printf 'a 1\\nb 2\\n' > t; grep b t | awk '{ print $2 * 2 }'", "4"),
    Ordinary("sums", "echo -n abc | sha256sum | cut -c1-8; echo -n abc | md5sum | cut -c1-8", "ba7816bf\n90015098"),
    Ordinary("dates and zones", "TZ=Asia/Tokyo date -d @0 +%H", "09"),
    Ordinary("a named pipe", "mkfifo p; echo through > p & cat p; wait", "through"),
    Ordinary("a lock", "flock notes.txt echo locked", "locked"),
    Ordinary("a limited time", "timeout 0.1 sleep 5; echo $?", "124"),
    Ordinary("processes", "sleep 5 & kill $! && wait $!; echo $?", "Terminated\n143"),
    Ordinary("bash", "bash -c 'a=(1 2 3); echo ${a[@]} <(true) | cut -c1-5; [[ abc =~ b ]] && echo yes'", "1 2 3\nyes", "bash"),
    Ordinary("perl", 'perl -e \'print join(",", map { $_ * 2 } 1..3), "\\n"\'', "2,4,6", "perl"),
    Ordinary(
        "diff and patch",
        "cp notes.txt b; echo more >> b; diff -u notes.txt b > p; patch -s notes.txt p && tail -1 notes.txt",
        "more",
        "patch",
    ),
    Ordinary(
        "git init and commit",
        f"git init -q . && git add . && {_COMMIT} -m one && git log --oneline | wc -l && git status --short | wc -l",
        "1\n0",
        "git",
    ),
    Ordinary(
        "git branch and merge",
        f"""
        git init -q -b main . && git add . && {_COMMIT} -m one
        git switch -q -c side && echo x > x && git add x && {_COMMIT} -m two
        git switch -q main && git merge -q --ff-only side && git branch --list | wc -l && cat x
        """,
        "2\nx",
        "git",
    ),
    Ordinary(
        "git clone, push, remote and fetch",
        f"""
        git init -q -b main a && cd a && echo 1 > f && git add f && {_COMMIT} -m one && cd ..
        git clone -q --bare a b.git && git clone -q b.git c
        cd c && echo 2 > f && {_COMMIT} -am two && git push -q
        cd ../a && git remote add o ../b.git && git fetch -q o && git show o/main:f
        """,
        "2",
        "git",
    ),
    Ordinary(
        "git diff, gc and fsck",
        f"""
        git init -q . && git add . && {_COMMIT} -m one && echo y >> notes.txt
        git diff --stat | tail -1 && git gc -q && git fsck 2>&1 | wc -l
        """,
        "1 file changed, 1 insertion(+)\n0",
        "git",
    ),
    Ordinary("gcc", _HELLO + "gcc -O2 -Wall hello.c -o hello -lm && ./hello", "hello 2.0", "gcc"),
    Ordinary(
        "g++",
        "printf '#include <iostream>\\nint main() { std::cout << \"hi\" << std::endl; }\\n' > h.cc && g++ h.cc -o h && ./h",
        "hi",
        "g++",
    ),
    Ordinary(
        "make",
        _HELLO + "printf 'hello: hello.c\\n\\tcc $< -o $@ -lm\\n' > Makefile && make -s -j4 && ./hello && make | tail -1",
        "hello 2.0\nmake: 'hello' is up to date.",
        "make",
    ),
    Ordinary(
        "cmake",
        _HELLO
        + """
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(h C)
add_executable(h hello.c)
target_link_libraries(h m)
END
cmake -S . -B out > log && cmake --build out >> log && ./out/h
""",
        "hello 2.0",
        "cmake",
    ),
    Ordinary(
        "python",
        "/usr/bin/python3 -c 'import sys, json, ssl, sqlite3, ctypes, multiprocessing; print(json.dumps([sys.version_info[0]]))'",
        "[3]",
    ),
    Ordinary(
        "python with processes",
        "/usr/bin/python3 -c 'from multiprocessing import Pool\nprint(sum(Pool(2).map(abs, [-1, -2, 3])))'",
        "6",
    ),
    Ordinary(
        "python with threads and a server",
        """
/usr/bin/python3 - <<'END'
import http.server, threading, urllib.request
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
s.RequestHandlerClass.log_message = lambda *a: None
threading.Thread(target=s.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f"http://localhost:{s.server_port}/notes.txt").read().decode())
END
""",
        "first",
    ),
    Ordinary(
        "python -m venv",
        "/usr/bin/python3 -m venv --without-pip env && env/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'",
        "True",
    ),
    Ordinary(
        "pip install of a local wheel",
        """
/usr/bin/python3 - <<'END'
import zipfile
z = zipfile.ZipFile("tiny-1-py3-none-any.whl", "w")
z.writestr("tiny.py", "x = 41")
z.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n")
z.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: me\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
z.writestr("tiny-1.dist-info/RECORD", "")
z.close()
END
/usr/bin/python3 -m venv --without-pip env
PYTHONPATH="PACKAGES" env/bin/python -m pip install -q --no-index ./tiny-1-py3-none-any.whl
env/bin/python -c 'import tiny; print(tiny.x + 1)'
""",
        "42",
    ),
    Ordinary(
        "unit tests",
        """
printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test_it(self): self.assertEqual(1, 1)\\n' > test_t.py
/usr/bin/python3 -m unittest -q 2>&1 | tail -1
""",
        "OK",
    ),
    Ordinary(
        "pytest",
        """
printf 'def test_it(tmp_path):\\n  assert tmp_path.exists()\\n' > test_t.py
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH="PACKAGES"
/usr/bin/python3 -m pytest -q test_t.py 2>&1 | tail -1 | grep -o '1 passed'
""",
        "1 passed",
    ),
    Ordinary(
        "sqlite3",
        "sqlite3 t.db 'create table t(x); insert into t values (1), (2); select sum(x) from t; pragma journal_mode=wal'",
        "3\nwal",
        "sqlite3",
    ),
    Ordinary(
        "node",
        """
cat > a.js <<'END'
const fs = require("fs"), os = require("os")
console.log(fs.readFileSync("notes.txt", "utf8").trim(), os.userInfo().username, Object.keys(os.networkInterfaces()).length >= 0)
END
node a.js
""",
        "first holdfast true",
        "nodejs",
    ),
    Ordinary(
        "node with a child and a server",
        """
cat > a.js <<'END'
const child = require("child_process").execSync("echo child").toString().trim()
const http = require("http")
const server = http.createServer((q, r) => r.end("served")).listen(0, () =>
  http.get({ port: server.address().port }, r => r.on("data", d => { console.log(d.toString(), child); server.close() })))
END
node a.js
""",
        "served child",
        "nodejs",
    ),
    Ordinary(
        "npm test of a local project",
        """
cat > package.json <<'END'
{"name": "p", "version": "1.0.0", "scripts": {"test": "node -e 'console.log(6 * 7)'"}}
END
npm test --silent
""",
        "42",
        "npm",
    ),
    Ordinary(
        "hundreds of small files",
        "for i in $(seq 300); do echo $i > file$i; done; ls file* | wc -l; cat file* | awk '{ s += $1 } END { print s }'",
        "300\n45150",
    ),
]
