"""Which system calls a confined command may make, as the filter program that the kernel runs before each of them.

Denied is what reaches around the walls: other people's processes, kernel interfaces that check nothing else, new
namespaces, files that run with another user's powers. The rest is allowed: programs are many, and a list of what they
need would never be complete. A denied call fails with an error that programs know how to report.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_X32 = 0x40000000
_EPERM, _ENOSYS, _EACCES = 1, 38, 13

_NEW_NAMESPACES = 0x7E020000  # the CLONE_NEW* flags
_SET_ID_BITS = 0o6000
_O_CREAT = 0o100
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C


class Test(Enum):
    EQUAL = _EQUAL
    ANY_BIT = _ANY_BIT
    NOT_ZERO = 0


@dataclass(frozen=True, slots=True)
class Deny:
    """Deny a call, or only with such arguments: all of `when` must hold (number of the argument, test, value)."""

    call: str
    when: tuple[tuple[int, Test, int], ...] = ()
    error: int = _EPERM


# name: (x86_64, aarch64); -1 where an architecture does not have the call
NUMBERS: dict[str, tuple[int, int]] = {
    "open": (2, -1), "openat": (257, 56), "creat": (85, -1), "openat2": (437, 437),
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "mkdir": (83, -1), "mkdirat": (258, 34), "mknod": (133, -1), "mknodat": (259, 33),
    "chown": (92, -1), "lchown": (94, -1), "fchownat": (260, 54),
    "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "setxattrat": (463, 463), "removexattrat": (466, 466),
    "ioctl": (16, 29), "clone": (56, 220), "clone3": (435, 435), "unshare": (272, 97), "setns": (308, 268),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
    "socket": (41, 198), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429),
    "open_tree": (428, 428), "fsopen": (430, 430), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "swapon": (167, 224), "swapoff": (168, 225), "quotactl": (179, 60),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "syslog": (103, 116), "acct": (163, 89),
    "iopl": (172, -1), "ioperm": (173, -1), "sethostname": (170, 161), "setdomainname": (171, 162),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "lookup_dcookie": (212, 18), "vhangup": (153, 58), "nfsservctl": (180, 42), "personality": (135, 92),
}  # fmt: skip

_NEVER = """ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise unshare setns
    io_uring_setup io_uring_enter io_uring_register mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount
    fspick mount_setattr swapon swapoff quotactl open_by_handle_at name_to_handle_at add_key request_key keyctl bpf
    perf_event_open userfaultfd fanotify_init init_module finit_module delete_module kexec_load kexec_file_load reboot
    syslog acct iopl ioperm sethostname setdomainname settimeofday clock_settime adjtimex clock_adjtime lookup_dcookie
    vhangup nfsservctl"""


def _set_id(call: str, mode: int, flags: int | None = None) -> Deny:
    """No file that runs as its owner or group: somebody else could run it later, with our powers."""
    creates = () if flags is None else ((flags, Test.ANY_BIT, _O_CREAT),)
    return Deny(call, (*creates, (mode, Test.ANY_BIT, _SET_ID_BITS)))


ALWAYS: tuple[Deny, ...] = (
    *(Deny(name) for name in _NEVER.split()),
    Deny("clone", ((0, Test.ANY_BIT, _NEW_NAMESPACES),)),
    Deny("clone3", error=_ENOSYS),  # its flags are out of sight; programs fall back to clone
    Deny("openat2", error=_ENOSYS),  # so is its mode
    Deny("fchmodat2", error=_ENOSYS),
    Deny("ioctl", ((1, Test.EQUAL, _TIOCSTI),)),  # types into the terminal of whoever started us
    Deny("ioctl", ((1, Test.EQUAL, _TIOCLINUX),)),
    _set_id("chmod", 1),
    _set_id("fchmod", 1),
    _set_id("fchmodat", 2),
    _set_id("open", 2, 1),
    _set_id("openat", 3, 2),
    _set_id("creat", 1),
    _set_id("mknod", 1),
    _set_id("mknodat", 2),
)

WITHOUT_NAMESPACES: tuple[Deny, ...] = (
    # Landlock sees who opens a file, not who changes its mode, owner, times or attributes by its path.
    *(
        Deny(name)
        for name in [
            "chmod",
            "fchmodat",
            "chown",
            "lchown",
            "fchownat",
            "utime",
            "utimes",
            "futimesat",
            "setxattr",
            "lsetxattr",
            "removexattr",
            "lremovexattr",
            "setxattrat",
            "removexattrat",
        ]
    ),
    Deny("utimensat", ((1, Test.NOT_ZERO, 0),)),  # without a path it is about an open file
    # No network, and no talking to services of this machine: Landlock does not see who connects to a socket's path.
    Deny("socket", error=_EACCES),
    *(Deny(name, error=_EACCES) for name in ("shmget", "semget", "msgget", "mq_open")),
)

WITHOUT_SCOPED_SIGNALS: tuple[Deny, ...] = tuple(
    Deny(name) for name in ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"]
)
"""Older kernels cannot tell whose process a signal goes to. Then none is sent."""


def program(rules: Sequence[Deny], machine: str) -> bytes:
    """The filter for this kind of machine, as the kernel reads it: 8 bytes an instruction."""
    column = list(_ARCHITECTURES).index(machine)
    code = [
        _step(_LOAD, 4),
        _step(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, 0),
    ]
    if machine == "x86_64":  # the same calls under other numbers
        code += [_step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, _ERROR | _ENOSYS)]
    for rule in rules:
        number = NUMBERS[rule.call][column]
        if number >= 0:
            code += _denial(rule, number)
    code.append(_step(_RETURN, _ALLOW))
    return b"".join(code)


def _denial(rule: Deny, number: int) -> list[bytes]:
    """The call's number is in the accumulator before and after."""
    checks: list[bytes] = []
    for position, (argument, test, value) in enumerate(reversed(rule.when)):
        after = sum(4 if later is Test.NOT_ZERO else 2 for _, later, _ in rule.when[len(rule.when) - position :]) + 1
        low = 16 + 8 * argument
        if test is Test.NOT_ZERO:
            found = [_step(_LOAD, low), _step(_EQUAL, 0, 0, 2), _step(_LOAD, low + 4), _step(_EQUAL, 0, after, 0)]
        else:
            found = [_step(_LOAD, low), _step(test.value, value, 0, after)]
        checks = found + checks
    body = [*checks, _step(_RETURN, _ERROR | rule.error)]
    if checks:
        body.append(_step(_LOAD, 0))
    return [_step(_EQUAL, number, 0, len(body)), *body]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def known(machine: str) -> bool:
    """Whether the numbers of this machine's calls are in the table."""
    return machine in _ARCHITECTURES
