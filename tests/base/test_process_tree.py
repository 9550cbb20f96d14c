"""A condition that runs out of time takes everything with it that it started, real processes all of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from nudge.home.command_conditions import CommandConditions
from nudge.instants import SECOND
from nudge.reminders.conditions import Question, Verdict
from tests.cli.cli import until

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="without /proc only the group is ended"),
    pytest.mark.skipif(shutil.which("setsid") is None, reason="needs setsid"),
]

_SLEEP = "sleep 600"


def ask(command: str, folder: Path, seconds: float) -> Verdict:
    conditions = CommandConditions(lambda agent: folder)
    return asyncio.run(conditions.ask(Question(command, "coach", "r-aaaaaa", 0, int(seconds * SECOND))))


def cancel_with(command: str, folder: Path, count: int) -> None:
    """Cancel a condition, as a time-out does, once so many processes have written down their numbers."""

    async def main() -> None:
        conditions = CommandConditions(lambda agent: folder)
        task = asyncio.create_task(conditions.ask(Question(command, "coach", "r-aaaaaa", 0, 600 * SECOND)))
        while len(alive(folder)) < count:
            await asyncio.sleep(0.01)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())


def alive(folder: Path) -> set[int]:
    """The processes that wrote down their numbers and still run."""
    found = set()
    for file in folder.glob("pid*"):
        number = int(file.read_text() or 0)
        with suppress(OSError):
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
            if number and state not in "ZX":
                found.add(number)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for number in alive(tmp_path):
        os.kill(number, signal.SIGKILL)


def detached(name: str, before: str = "", start: str = "setsid") -> str:
    """A shell in a session of its own that writes down its number and stays."""
    return f"{start} sh -c '{before}echo $$ > {name}; exec {_SLEEP}'"


@pytest.mark.parametrize(
    ("command", "count"),
    [
        pytest.param(detached("pid1", start=""), 1, id="in the foreground"),
        pytest.param(f"{detached('pid1', start='')} & wait", 1, id="in the background"),
        pytest.param(detached("pid1"), 1, id="in a session of its own"),
        pytest.param(f"{detached('pid1')} & wait", 1, id="in its own session, in the background"),
        pytest.param(f"({detached('pid1')} &) ; {_SLEEP}", 1, id="cut off from its parent"),
        pytest.param(f"({detached('pid1')} & {detached('pid2')} &) ; {detached('pid3')}", 3, id="several"),
        pytest.param(f"{detached('pid1', start='setsid setsid --fork')}; {_SLEEP}", 1, id="a session in a session"),
        pytest.param(detached("pid1", start="setsid env -i"), 1, id="without an environment"),
        pytest.param(detached("pid1", before='trap "" TERM HUP INT; '), 1, id="deaf to polite signals"),
    ],
)
def test_nothing_survives_a_condition_that_does_not_end_by_itself(folder: Path, command: str, count: int) -> None:
    cancel_with(command, folder, count)
    until(lambda: not alive(folder), "all of them are gone")


def test_a_detached_child_does_not_survive_a_time_out(folder: Path) -> None:
    verdict = ask(f"({detached('pid1')} &) ; {_SLEEP}", folder, 2)
    assert "did not end within" in verdict.reason
    until(lambda: not alive(folder), "it is gone")


def test_one_that_ends_by_itself_ends_its_group_and_not_a_service_that_it_started(folder: Path) -> None:
    both = f"{detached('pid1', start='')} & {detached('pid2')} &"
    command = f"{both} while [ ! -s pid1 ] || [ ! -s pid2 ]; do sleep 0.1; done"
    assert ask(command, folder, 60).met
    until(lambda: len(alive(folder)) == 1, "the one in the group is gone")
    assert alive(folder) == {int((folder / "pid2").read_text())}


def test_the_run_of_another_condition_is_left_alone(folder: Path) -> None:
    async def main() -> Verdict:
        conditions = CommandConditions(lambda agent: folder)
        slow = f"({detached('pid1')} &) ; {_SLEEP}"
        other = "setsid sh -c 'sleep 2; echo done'"
        short = conditions.ask(Question(slow, "coach", "r-aaaaaa", 0, SECOND))
        longer = conditions.ask(Question(other, "coach", "r-bbbbbb", 0, 60 * SECOND))
        return (await asyncio.gather(short, longer))[1]

    verdict = asyncio.run(main())
    assert (verdict.met, verdict.output) == (True, "done\n")
    until(lambda: not alive(folder), "the first one is gone")


def test_a_condition_sees_no_key_of_the_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    told = ask(f"{sys.executable} -c 'import os; print(sorted(os.environ))'", tmp_path, 30).output
    assert "OPENAI_API_KEY" not in told
    assert "NUDGE_CONDITION_RUN" in told
