"""Conditions as real commands: their environment, their limits, and that nothing of them is left behind."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from nudge.home.command_conditions import OUTPUT_BYTES, CommandConditions
from nudge.instants import SECOND
from nudge.reminders.conditions import Question, Verdict

pytestmark = pytest.mark.process


async def ask(
    folder: Path,
    command: str,
    *,
    timeout: float = 20,
    environment: dict[str, str] | None = None,
    secrets: tuple[str, ...] = (),
) -> Verdict:
    outside = {"PATH": os.environ["PATH"], **(environment or {})}
    conditions = CommandConditions(lambda agent: folder / agent / "workspace", outside, secrets)
    return await conditions.ask(Question(command, "coach", "r-a1b2c3", 7, int(timeout * SECOND)))


@pytest.mark.parametrize(
    ("command", "met", "reason"),
    [
        pytest.param("true", True, "", id="exit 0 is true"),
        pytest.param("exit 3", False, "exit 3", id="any other exit is false"),
        pytest.param("no-such-command-here", False, "the command was not found (exit 127)", id="a missing command"),
        pytest.param(": > x; ./x", False, "the command cannot be executed (exit 126)", id="one that is no program"),
        pytest.param("kill -TERM $$", False, "the command was ended by SIGTERM", id="one that was killed"),
        pytest.param("kill -35 $$", False, "the command was ended by signal 35", id="by a signal without a name"),
        pytest.param("test -d /", True, "", id="a pipeline's shell"),
        pytest.param("echo 3 | grep -q 4", False, "exit 1", id="the last of a pipe decides"),
    ],
)
async def test_the_exit_code_decides(tmp_path: Path, command: str, met: bool, reason: str) -> None:
    verdict = await ask(tmp_path, command)
    assert (verdict.met, verdict.reason) == (met, reason)


async def test_it_runs_in_the_workspace_and_knows_its_reminder(tmp_path: Path) -> None:
    verdict = await ask(tmp_path, 'pwd; echo "$NUDGE_AGENT $NUDGE_REMINDER_ID $NUDGE_FIRE_COUNT"; cat; echo oops >&2')
    assert verdict.output == f"{tmp_path}/coach/workspace\ncoach r-a1b2c3 7\noops\n"
    assert verdict.exit_code == 0


async def test_it_does_not_see_the_secrets(tmp_path: Path) -> None:
    environment = {
        "ANTHROPIC_API_KEY": "sk-ant-aaaaaaaaaaaa",
        "TELEGRAM_BOT_TOKEN": "123456:AAAAAAAAAAAAAAAAAAAAAAAA",
        "NUDGE_DATABASE_URL": "postgresql://u:p@h/d",
        "MY_COPY": "sk-ant-aaaaaaaaaaaa",
        "NUDGE_HOME": "/somewhere",
        "KEPT": "yes",
    }
    verdict = await ask(tmp_path, "env", environment=environment, secrets=("sk-ant-aaaaaaaaaaaa",))
    assert "aaaa" not in verdict.output.lower()
    assert "postgresql" not in verdict.output
    assert "KEPT=yes\n" in verdict.output
    assert "NUDGE_HOME=/somewhere\n" in verdict.output


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("yes | head -c 1000000", "y\n" * (OUTPUT_BYTES // 2), id="the first 2 KB of a megabyte"),
        pytest.param("printf 'a\\0b\\377'", "ab�", id="what is no text becomes text"),
        pytest.param(
            "printf 'x'; head -c 3000 /dev/zero | sed 's/\\x00/ä/g'", "x" + "ä" * 1023, id="no half character"
        ),
    ],
)
async def test_what_it_prints_is_kept_in_bounds(tmp_path: Path, command: str, expected: str) -> None:
    assert (await ask(tmp_path, command)).output == expected


def alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return status != "Z"


async def gone(pid: int) -> None:
    """SIGKILL has been sent: the kernel may take a moment."""
    async with asyncio.timeout(10):
        while alive(pid):
            await asyncio.sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        pytest.param(
            "sleep 300 & echo $! > pid; trap '' TERM; wait", "the command did not end within 0.3s", id="hangs"
        ),
        pytest.param("sleep 300 & echo $! > pid; exit 0", "", id="leaves something in the background"),
    ],
)
async def test_nothing_of_it_is_left_behind(tmp_path: Path, command: str, reason: str) -> None:
    verdict = await ask(tmp_path, command, timeout=0.3 if reason else 20)
    assert (verdict.met, verdict.reason) == (not reason, reason)
    await gone(int((tmp_path / "coach" / "workspace" / "pid").read_text()))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
async def test_one_that_is_cancelled_dies_too(tmp_path: Path) -> None:
    asking = asyncio.create_task(ask(tmp_path, "echo $$ > pid; sleep 300"))
    pid = tmp_path / "coach" / "workspace" / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await gone(int(pid.read_text()))


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    def count() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    await ask(tmp_path, "true")
    before = count()
    for command in ("true", "false", "sleep 9 & exit 0", "yes | head -c 100000"):
        await ask(tmp_path, command)
    await ask(tmp_path, "sleep 300", timeout=0.1)
    assert count() == before


async def test_a_workspace_that_cannot_be_made_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "coach").write_text("a file in the way")
    verdict = await ask(tmp_path, "true")
    assert not verdict.met
    assert verdict.reason.startswith("the command could not be started")
