"""The program between nudge and a command. Standard library only: it is started as a file, by `python -I -S`.

It takes its orders as JSON from descriptor `argv[1]` and writes how the command ended to descriptor `argv[2]`. It stays
until it is killed: processes that lost their parent become its children, so nudge finds all of them below it. It also
counts them, because a kernel does not limit root, and for others it counts the whole user instead of one command.

If nudge dies, this program ends everything below it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

# The numbers of the kernel's interface
_SET_PDEATHSIG, _CAPBSET_DROP, _SET_SECCOMP, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = 1, 24, 22, 36, 38
_SECCOMP_FILTER = 2
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT, _PATH_BENEATH = 444, 445, 446, 1
_CAPSET = {"x86_64": 126, "aarch64": 91}
_LAST_CAPABILITY = 63
_GLANCE_SECONDS, _GLANCES_A_LOOK, _REST_SECONDS = 0.01, 20, 5.0


def main() -> None:
    orders = json.load(os.fdopen(int(sys.argv[1])))
    status = int(sys.argv[2])
    parent = orders["parent"]
    tree = _load(orders["process_tree"])
    libc = ctypes.CDLL(None, use_errno=True)
    linux = sys.platform.startswith("linux")
    if linux:
        libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: _end(tree))
    if linux:
        libc.prctl(_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)  # nudge died before we could ask to hear of it
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    child = os.fork()
    if not child:
        os.close(status)
        try:
            _confine(orders, libc, linux)
            os.execvpe(orders["argv"][0], orders["argv"], orders["environment"])  # noqa: S606 - that is its purpose
        except FileNotFoundError:
            os.write(2, f"nudge: there is no program called {orders['argv'][0]!r} on its PATH\n".encode())
        except OSError as error:
            os.write(2, f"nudge: cannot start {orders['argv'][0]}: {error.strerror}\n".encode())
        finally:
            os._exit(127)
    os.close(1)
    os.close(2)
    _tell(status, *_watch(child, orders, tree))
    while True:
        signal.pause()


def _watch(child: int, orders: Any, tree: Any) -> tuple[str, int | None]:
    """How the command ended. Until it does, look now and then whether it has grown too large."""
    tasks, glances = _tasks(), 0
    while True:
        pid, ended = _reap(child)
        if pid:
            return "exited", os.waitstatus_to_exitcode(ended)
        if hasattr(signal, "sigtimedwait"):
            signal.sigtimedwait({signal.SIGCHLD}, _REST_SECONDS if orders["free"] else _GLANCE_SECONDS)
        else:  # macOS
            time.sleep(_GLANCE_SECONDS)
        if orders["free"]:
            continue
        glances += 1
        if _tasks() - tasks > orders["processes"] or not glances % _GLANCES_A_LOOK:
            reason = _too_large(tree.below(os.getpid()) - {os.getpid()}, orders)
            if reason:
                return reason, None


def _tasks() -> int:
    """How many threads the whole machine has: the quickest sign that somebody multiplies."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def _reap(child: int) -> tuple[int, int]:
    """Take in whoever ended below us; the command itself, if it was among them."""
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0, 0
        if pid in (0, child):
            return pid, ended


def _too_large(pids: set[int], orders: Any) -> str | None:
    if len(pids) > orders["processes"]:
        return "too-many-processes"
    pages = 0
    for pid in pids:
        try:
            resident, shared = Path(f"/proc/{pid}/statm").read_bytes().split()[1:3]
        except (OSError, ValueError):
            continue
        pages += int(resident) - int(shared)
    return "too-much-memory" if pages * os.sysconf("SC_PAGE_SIZE") > orders["memory_bytes"] else None


def _tell(status: int, ending: str, code: int | None) -> None:
    os.write(status, json.dumps([ending, code]).encode())
    os.close(status)


def _end(tree: Any) -> None:
    """Everybody below us. They become our children one after the other, so we look again until nobody is left."""
    me = os.getpid()
    while victims := tree.below(me) - {me}:
        for pid in victims:
            tree.kill_group(pid)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        _reap(0)
    os._exit(1)


def _confine(orders: Any, libc: Any, linux: bool) -> None:
    import resource

    os.setsid()
    for name, most in orders["rlimits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    os.umask(0o077)
    os.chdir(orders["folder"])
    for number in signal.Signals:
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    if not linux:
        return
    libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if orders["free"]:
        return
    for descriptor in orders["inherited"]:
        os.set_inheritable(descriptor, True)
    if orders["landlock"] is not None:
        _drop_capabilities(libc)
    _must(libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if orders["landlock"] is not None:
        _restrict(orders["landlock"], libc)
    if orders["seccomp"] is not None:
        _filter(bytes.fromhex(orders["seccomp"]), libc)


def _drop_capabilities(libc: Any) -> None:
    """Root keeps the files that it owns and loses the rest of its powers, for good: nothing below can get them back."""
    for capability in range(_LAST_CAPABILITY + 1):
        libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _must(libc.syscall(_CAPSET[os.uname().machine], header, (ctypes.c_uint32 * 6)()), "capset")


def _restrict(landlock: Any, libc: Any) -> None:
    class Ruleset(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scoped")]

    class PathBeneath(ctypes.Structure):
        _pack_ = 1
        _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]

    rules = Ruleset(landlock["files"], landlock["network"], landlock["scoped"])
    size = 8 * (3 if landlock["scoped"] else 2 if landlock["network"] else 1)
    ruleset = _must(libc.syscall(_LANDLOCK_CREATE, ctypes.byref(rules), size, 0), "landlock")
    for path, access in landlock["paths"]:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # not on this machine: nothing to allow
        if not Path(path).is_dir():
            access &= landlock["of_files"]
        rule = PathBeneath(access, descriptor)
        _must(libc.syscall(_LANDLOCK_ADD, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0), f"landlock rule for {path}")
        os.close(descriptor)
    _must(libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock")
    os.close(ruleset)


def _filter(program: bytes, libc: Any) -> None:
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]

    filled = Program(len(program) // 8, program)
    _must(libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(filled), 0, 0), "seccomp")


def _must(result: int, what: str) -> int:
    """What cannot be confined does not start."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _load(path: str) -> Any:
    """`nudge.process_tree` by its file: importing the package would need its folder on the path."""
    spec = spec_from_file_location("process_tree", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
