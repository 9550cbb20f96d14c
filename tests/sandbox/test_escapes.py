"""Ways out of a sandbox: each works without one, and none works inside. The commands and their targets are real."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nudge.sandbox.choose import candidates, unconfined
from nudge.sandbox.landlock import landlock, version
from nudge.worker.sandbox import Ending, Job, Limits, Ran, Sandbox
from tests.cli.cli import until

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these ways out are Linux's"),
    pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="needs a python3 that a sandbox shows"),
]

WORD = "got-" + "through"
ROOT = os.getuid() == 0
SANDBOXES = {found.name: (found, problem) for found, problem in candidates()}
if version() >= 6:
    SANDBOXES["landlock of Linux 6.2"] = (landlock(abi=3), "")


def python(code: str) -> str:
    return f"/usr/bin/python3 - <<'END'\nimport ctypes, os, socket\n{code}\nprint('{{word}}')\nEND"


_LIBC = "libc = ctypes.CDLL(None, use_errno=True)\n"

ESCAPES = {
    "reads the home's secrets": "grep -q KEY {home}/.env && echo {word}",
    "lists the home": "ls {home}/roles | grep -q coach && echo {word}",
    "writes a role, whose commands would run later": "echo 'x' > {home}/roles/evil.yaml && echo {word}",
    "writes a dotfile that the person's shell runs": "echo evil >> {person}/.bashrc && echo {word}",
    "lets itself in by ssh": "echo key >> {person}/.ssh/authorized_keys && echo {word}",
    "writes a hook of a repository outside": "echo evil > {outside}/.git/hooks/post-commit && echo {word}",
    "reads a file of another user": "grep -q secret {outside}/theirs && echo {word}",
    "empties a file outside": "truncate -s 0 {outside}/empty-me && echo {word}",
    "removes a file outside": "touch {outside}/gone 2>/dev/null; rm {outside}/gone && echo {word}",
    "moves a file outside into reach": "cp {outside}/secret {outside}/s2 ; mv {outside}/s2 moved && echo {word}",
    "makes a file outside readable for all": "chmod 666 {outside}/secret && echo {word}",
    "changes the times of a file outside": python("os.utime('{outside}/secret', (1, 1))"),
    "marks a file outside": python("os.setxattr('{outside}/secret', 'user.nudge', b'1')"),
    "follows a link": "ln -sf {outside}/secret link && grep -q secret link && echo {word}",
    "writes through a link": "ln -sfn {outside} folder && echo x > folder/through && echo {word}",
    "makes another name for a file outside": "rm -f h; ln {outside}/secret h && grep -q secret h && echo {word}",
    "swaps a link under its own reader": (
        "ln -sfn . d; (for i in $(seq 100); do ln -sfn {outside} d; ln -sfn . d; done) & "
        'while [ -n "$(jobs -r)" ]; do { read x < d/secret; } 2>/dev/null && echo {word} && break; done; wait'
    ),
    "connects to a service of this machine": python("socket.create_connection(('127.0.0.1', {port}), 3)"),
    "asks a service by UDP": python(
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2); s.sendto(b'x', ('127.0.0.1', {udp}))\n"
        "assert s.recv(9) == b'x'"
    ),
    "connects to a socket in a folder": python("socket.socket(socket.AF_UNIX).connect('{outside}/control.sock')"),
    "connects to a socket without a folder": python("socket.socket(socket.AF_UNIX).connect('\\0{abstract}')"),
    "reads another process's environment": "grep -qz NUDGE_TRIAL /proc/{pid}/environ && echo {word}",
    "reads files by way of another process": "grep -q secret /proc/{pid}/root{outside}/secret && echo {word}",
    "reads by way of another process's folder": "grep -q secret /proc/{pid}/cwd/secret && echo {word}",
    "traces another process": python(
        _LIBC + "assert libc.ptrace(16, {pid}, 0, 0) == 0\nos.waitpid({pid}, 0x40000000)\nlibc.ptrace(17, {pid}, 0, 0)"
    ),
    "reads another process's memory": python(
        _LIBC + "b = ctypes.create_string_buffer(8)\n"
        "class V(ctypes.Structure): _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n"
        "assert libc.process_vm_readv({pid}, ctypes.byref(V(ctypes.addressof(b), 8)), 1,"
        " ctypes.byref(V({address}, 8)), 1, 0) == 8"
    ),
    "signals another process": "kill -0 {pid} && echo {word}",
    "makes a file that runs as its owner": "cp /bin/true mine; chmod u+s mine && test -u mine && echo {word}",
    "makes one at once": python(
        "os.open('born', os.O_CREAT | os.O_WRONLY, 0o4755); assert os.stat('born').st_mode & 0o4000"
    ),
    "makes a user namespace": "unshare -Ur true && echo {word}",
    "shares memory with another program": python(_LIBC + "assert libc.shmget({shared}, 8, 0) >= 0"),
    "reads the kernel's keys": python("import platform\n" + _LIBC + "assert libc.syscall({keyctl}, 0, -3, 1) > 0"),
}
TRACING = {"traces another process", "reads another process's memory"}
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
AS_ROOT = {
    "mounts": "unshare -m mount -t tmpfs none /mnt && echo {word}",
    "makes a device": "rm -f zero; mknod zero c 1 5 && head -c1 zero >/dev/null && echo {word}",
    "sets a switch of the kernel": "f=/proc/sys/kernel/pid_max; v=$(cat $f) && echo $v > $f && echo {word}",
    "reads the password hashes": "grep -q root /etc/shadow && echo {word}",
}


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[Path, dict[str, str]]]:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        for folder in ("workspace", "outside/.git/hooks", "home/roles", "person/.ssh"):
            (top / folder).mkdir(parents=True)
        for file in ("outside/secret", "outside/theirs", "outside/empty-me"):
            (top / file).write_text("secret\n")
        if ROOT:
            os.chown(top / "outside/theirs", 65534, 65534)
        (top / "home/.env").write_text("KEY=secret\n")
        (top / "home/roles/coach.yaml").write_text("secret\n")
        yield from _with_services(top)


def _with_services(top: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    outside = top / "outside"
    abstract = f"nudge-{os.getpid()}"
    libc = ctypes.CDLL(None)
    shared = libc.shmget(os.getpid(), 8, 0o1600)
    kinds = (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX)
    with (
        socket.socket(kinds[0]) as tcp,
        socket.socket(kinds[1]) as path,
        socket.socket(kinds[2]) as nameless,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        tcp.bind(("127.0.0.1", 0))
        path.bind(str(outside / "control.sock"))
        nameless.bind("\0" + abstract)
        udp.bind(("127.0.0.1", 0))
        for service in (tcp, path, nameless):
            service.listen(64)
        udp.settimeout(0.05)
        over = threading.Event()
        echo = threading.Thread(target=_echo, args=(udp, over))
        echo.start()
        sleeper = subprocess.Popen(
            ["/usr/bin/python3", "-c", "import ctypes, sys; b = ctypes.create_string_buffer(8);"
             "print(ctypes.addressof(b), flush=True); sys.stdin.read()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=outside, env={"NUDGE_TRIAL": "1"},
        )  # fmt: skip
        assert sleeper.stdout is not None
        address = sleeper.stdout.readline().strip()
        try:
            yield top / "workspace", {
                "word": WORD, "outside": str(outside), "home": str(top / "home"), "person": str(top / "person"),
                "port": str(tcp.getsockname()[1]), "udp": str(udp.getsockname()[1]), "abstract": abstract,
                "pid": str(sleeper.pid), "address": address, "shared": str(os.getpid()),
                "keyctl": str({"x86_64": 250, "aarch64": 219}[os.uname().machine]),
            }  # fmt: skip
        finally:
            sleeper.kill()
            sleeper.communicate()
            over.set()
            echo.join()
            libc.shmctl(shared, 0, None)


def _echo(service: socket.socket, over: threading.Event) -> None:
    while not over.is_set():
        try:
            said, who = service.recvfrom(64)
        except TimeoutError:
            continue
        service.sendto(said, who)


def run(sandbox: Sandbox, command: str, folder: Path, limits: Limits | None = None) -> Ran:
    return asyncio.run(sandbox.run(Job(command, folder, limits or Limits(seconds=20), {"NUDGE_TEST": str(folder)})))


def filled(command: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        command = command.replace(f"{{{name}}}", value)
    return command


@pytest.fixture(params=list(SANDBOXES))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found, problem = SANDBOXES[request.param]
    if problem:
        pytest.skip(problem)
    return found


@pytest.mark.parametrize("escape", [*ESCAPES, *AS_ROOT])
def test_without_a_sandbox_it_works(escape: str, world: tuple[Path, dict[str, str]]) -> None:
    if escape in AS_ROOT and not ROOT:
        pytest.skip("only root can do this")
    if escape in TRACING and not ROOT and YAMA.exists() and YAMA.read_text().strip() != "0":
        pytest.skip("this kernel lets nobody but root trace another process")
    folder, names = world
    ran = run(unconfined(), filled((ESCAPES | AS_ROOT)[escape], names), folder)
    assert WORD in ran.output, ran.output


@pytest.mark.parametrize("escape", [*ESCAPES, *AS_ROOT])
def test_inside_it_does_not(escape: str, sandbox: Sandbox, world: tuple[Path, dict[str, str]]) -> None:
    folder, names = world
    ran = run(sandbox, filled((ESCAPES | AS_ROOT)[escape], names), folder)
    assert ran.ending is Ending.EXITED
    assert WORD not in ran.output


def test_ordinary_work_goes_on(sandbox: Sandbox, tmp_path: Path) -> None:
    ran = run(
        sandbox,
        "mkdir -p a/b && echo hi > a/b/c && cat a/b/c && mv a/b/c d && rm -r a && ls && echo x > $TMPDIR/t"
        " && cat $TMPDIR/t && (sleep 0 | cat) && git init -q r && python3 -c 'print(6*7)' && kill -0 $$",
        tmp_path,
    )
    older = "Linux 6.2" in str(SANDBOXES) and sandbox is SANDBOXES.get("landlock of Linux 6.2", (None, ""))[0]
    assert ran.output.startswith("hi\nd\nx\n"), ran.output
    if not older and "landlock" not in sandbox.name:  # there git cannot change modes, and older kernels send no signal
        assert (ran.code, ran.output) == (0, "hi\nd\nx\n42\n")


@pytest.mark.parametrize(
    ("command", "limits", "ending"),
    [
        pytest.param(
            "for i in $(seq 300); do sleep 5 & done; wait",
            Limits(seconds=30, processes=40),
            Ending.TOO_MANY_PROCESSES,
            id="a crowd",
        ),
        pytest.param(
            # It doubles eight times and stops: where nothing held it, it would still not take the machine down.
            "b() { [ $1 = 0 ] && exec sleep 20; b $(($1 - 1)) | b $(($1 - 1)) & wait; }; b 8",
            Limits(30, processes=60),
            Ending.TOO_MANY_PROCESSES,
            id="a fork bomb",
        ),
        pytest.param(
            "b() { setsid bash -c 'sleep 0.01; exec sleep 9' & }; for i in $(seq 200); do b; done; sleep 20",
            Limits(30, processes=60),
            Ending.TOO_MANY_PROCESSES,
            id="a crowd that leaves its group",
        ),
        pytest.param(
            "python3 -c 'x = bytearray(400_000_000); import time; time.sleep(20)'",
            Limits(seconds=30, memory_bytes=200_000_000),
            Ending.TOO_MUCH_MEMORY,
            id="one that eats memory",
        ),
        pytest.param("sleep 600", Limits(seconds=0.5), Ending.TIMED_OUT, id="one that takes for ever"),
        pytest.param("trap '' TERM INT HUP; sleep 600", Limits(0.5), Ending.TIMED_OUT, id="one that hears no signals"),
    ],
)
def test_what_grows_too_large_is_stopped(
    command: str, limits: Limits, ending: Ending, sandbox: Sandbox, tmp_path: Path
) -> None:
    assert run(sandbox, command, tmp_path, limits).ending is ending
    assert not living(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("sleep {long} & echo", id="in the background"),
        pytest.param("setsid sleep {long} & echo", id="in a session of its own"),
        pytest.param("(setsid env -i /bin/sleep {long} &) ; sleep 0.1", id="without parent, session and environment"),
        pytest.param(
            "nohup setsid bash -c 'trap \"\" TERM; sleep {long}' >/dev/null 2>&1 & sleep 0.1", id="as a daemon"
        ),
    ],
)
def test_nothing_is_left_behind(command: str, sandbox: Sandbox, tmp_path: Path) -> None:
    long = f"60{os.getpid()}"  # nobody else sleeps for this time
    for place in (sandbox, unconfined()):
        run(place, command.replace("{long}", long), tmp_path)
        assert f"sleep\0{long}" not in "\n".join(_read("cmdline"))


def test_a_cancelled_command_is_gone(sandbox: Sandbox, tmp_path: Path) -> None:
    async def main() -> None:
        task = asyncio.create_task(
            sandbox.run(Job("touch begun; sleep 615", tmp_path, environment={"NUDGE_TEST": str(tmp_path)}))
        )
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert not living(tmp_path)


@pytest.mark.parametrize("place", ["bubblewrap", "landlock", "none"])
def test_if_nudge_is_killed_its_commands_end(place: str, tmp_path: Path) -> None:
    if place in SANDBOXES and SANDBOXES[place][1]:
        pytest.skip(SANDBOXES[place][1])
    command = "touch begun; setsid sleep 616 & setsid env -i NUDGE_TEST=$NUDGE_TEST sleep 617; wait"
    code = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom nudge.sandbox.choose import choose\n"
        "from nudge.worker.sandbox import Job\n"
        f"job = Job({command!r}, Path({str(tmp_path)!r}), environment={{'NUDGE_TEST': {str(tmp_path)!r}}})\n"
        f"asyncio.run(choose({place!r}).run(job))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as nudge:
        until(lambda: (tmp_path / "begun").exists() and len(living(tmp_path)) >= 3, "the command runs")
        nudge.kill()
    until(lambda: not living(tmp_path), "everything has ended")


def test_no_secret_is_in_the_environment(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("ODD_NAME", "sk-secret")
    for place in (sandbox, unconfined()):
        ran = run(place, "env", tmp_path)
        assert "PATH=" in ran.output
        assert "sk-secret" not in ran.output


def test_no_open_file_is_handed_on(sandbox: Sandbox, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        code = "import os\nfor n in range(3, 64):\n try: os.fstat(n); print('open', n)\n except OSError: pass"
        assert "open" not in run(sandbox, f'python3 -c "{code}"', tmp_path).output


def test_long_output_keeps_its_ends(sandbox: Sandbox, tmp_path: Path) -> None:
    ran = run(sandbox, "seq 100000", tmp_path, Limits(seconds=20, output_bytes=2_000))
    assert ran.output.startswith("1\n2\n")
    assert ran.output.endswith("\n100000\n")
    assert f"{ran.left_out_bytes:,} bytes left out" in ran.output
    assert len(ran.output) < 2_100


@pytest.mark.skipif(not ROOT or shutil.which("setpriv") is None, reason="root that can become nobody")
def test_the_same_holds_for_an_ordinary_user(tmp_path: Path) -> None:
    code = (
        "from nudge.sandbox.choose import candidates\nfrom nudge.sandbox.trial import examine\n"
        "for one, problem in candidates():\n"
        "    found = None if problem else examine(one)\n"
        "    print(one.name, found is None or (found.works and len(found.stopped) == 7 and not found.possible))\n"
    )
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-B", "-c", code],
        env={"PYTHONPATH": str(source), "PATH": os.environ["PATH"]}, cwd="/", capture_output=True, text=True,
    )  # fmt: skip
    if "No module named 'nudge'" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip("nobody cannot read this folder")
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        assert line.endswith(" True"), done.stdout


def living(folder: Path) -> list[str]:
    """Processes of a run in this folder that have not ended."""
    return [found for found in _read("environ") if f"NUDGE_TEST={folder}" in found.split("\0")]


def _read(name: str) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            found.append((folder / name).read_text(errors="replace"))
        except OSError:
            continue
    return found
