"""Kills of the real process at instants that are gated on what it is doing.

python -m tests.faults.kills --count 200        (make soak)
python -m tests.faults.kills --child GATE N      what is killed: `nudge run`, which dies at the N-th time of its gate

One home lives through all of them: the person writes and sets a reminder, the daemon dies in the middle, and the next
one goes on. A gate is a statement of the store, which the process kills itself before; or a request that a service has
seen and does not answer, at which it is killed from outside. At the end everything has been answered, nothing came
twice unmarked, and nothing is held.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from nudge.queue.channel import REPEAT_MARK
from nudge.testing.anthropic_server import FakeAnthropic
from nudge.testing.faults import Fault, FaultKind
from nudge.testing.telegram_server import PERSON, FakeTelegram
from tests.cli.cli import Cli

STATEMENTS = (
    "conversations_add",  # a message is heard, or its answer written
    "timers_take_held",  # a handler settles
    "outcomes_record",
    "outbox_put",
    "outbox_mark",  # a send begins, or has ended
    "outbox_arrived",  # a part has arrived
    "holds_put",  # a model call begins
    "holds_change",  # a model call has ended
    "records_set",
    "commit",
    "committed",
)
SERVICES = ("call", "first part", "first part arrived", "second part", "second part arrived")
GATES = (*((name, number) for number in (1, 2, 3) for name in STATEMENTS), *((name, 0) for name in SERVICES))
"""(gate, the time at which it kills); 0 where a service's request is the gate."""
PATIENCE = 600.0
"""On a machine that does other things as well. Nobody waits so long where everything works."""
LONG = "\n".join(f"line {number:03} " + "words " * 8 + "end" for number in range(110))
"""An answer of two parts."""


def child(gate: str, number: int) -> int:
    """`nudge run` in this process, with a gate in its store."""
    from nudge.cli.main import main
    from nudge.stores.sqlite import SqliteDatabase

    passed = itertools.count(1)

    def probe(statement: str) -> None:
        if statement == gate and next(passed) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    create = SqliteDatabase.__init__

    def created(self: SqliteDatabase, *args: object, **more: object) -> None:
        create(self, *args, **more)  # type: ignore[arg-type]
        self.probe = probe

    SqliteDatabase.__init__ = created  # type: ignore[method-assign]
    return main(["run"])


class Life:
    """A home whose daemon is killed again and again."""

    def __init__(self, cli: Cli, telegram: FakeTelegram, anthropic: FakeAnthropic) -> None:
        self.cli, self.telegram, self.anthropic = cli, telegram, anthropic
        self.said = 0
        self.kills: Counter[str] = Counter()

    def prepare(self) -> None:
        self.cli("init")
        config = self.cli.home / "nudge.toml"
        text = config.read_text().replace("[telegram]\n", f"[telegram]\nallow = [{PERSON}]\n")
        config.write_text(text)
        self.cli.environment |= {
            "TELEGRAM_BOT_TOKEN": self.telegram.token,
            "TELEGRAM_API_BASE": self.telegram.url,
            "ANTHROPIC_API_KEY": self.anthropic.api_key,
            "ANTHROPIC_BASE_URL": self.anthropic.url,
        }
        self.cli("budget", "set", "--window", "500")

    def kill(self, gate: str, number: int) -> None:
        """Let the person do something, and kill whoever works on it when it comes to the gate."""
        self.said += 1
        if gate == "call":
            self.anthropic.fail(Fault(FaultKind.HANG, on="messages"))
        elif not number:
            after, done = int(gate.startswith("second")), gate.endswith("arrived")
            self.telegram.fail(Fault(FaultKind.HANG, on="sendMessage", after=after, done=done))
        self.telegram.say(f"/remind thing {self.said:03} in 1 second")
        self.telegram.say(f"tell me about {self.said:03}")
        process = self._start(gate, number)
        try:
            if number:
                waits = _until(lambda: process.poll() is not None)
            else:
                held = (self.anthropic if gate == "call" else self.telegram._api).faults
                waits = _until(lambda: held.held > 0)
            assert waits, f"nobody came to the gate {gate!r} for the time {number}: that kill proves nothing"
            self.kills[gate] += 1
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.telegram.heal()
        self.anthropic.faults.clear()

    def finish(self) -> list[str]:
        """Let the last daemon do what is left; what is wrong then."""
        process = self._start("", 0)
        try:
            settled = _until(lambda: not self._rows(_OPEN) and self._answered() >= self.said)
        finally:
            process.terminate()
            process.wait(PATIENCE)
        wrong = [] if settled else [f"left over: {self._rows(_OPEN)}, {self._answered()} of {self.said} answered"]
        return wrong + self._look()

    def _look(self) -> list[str]:
        wrong = []
        texts = [message.text for message in self.telegram.sent]
        for number in range(1, self.said + 1):
            for what in (f"thing {number:03}", f"tell me about {number:03}"):
                if what.startswith("thing") and not any(what in text for text in texts):
                    wrong.append(f"{what!r} never arrived")
        heard = self._rows("SELECT content, COUNT(*) FROM conversations WHERE role = 'user' GROUP BY content")
        wrong += [f"{content!r} was heard {times} times" for content, times in heard if times != 1]
        if len(heard) != self.said:
            wrong.append(f"{len(heard)} of {self.said} messages were heard")
        reminders = self._rows("SELECT message, COUNT(*) FROM reminders WHERE source = 'chat' GROUP BY message")
        wrong += [f"{message!r} was set {times} times" for message, times in reminders if times != 1]
        wrong += [
            f"{row} is {state}" for row, state in self._rows("SELECT id, state FROM outbox WHERE state <> 'sent'")
        ]
        wrong += [f"{hold[0]} is held" for hold in self._rows("SELECT attempt_id FROM holds WHERE state = 'held'")]
        marks = sum(text.startswith(REPEAT_MARK.strip()) for text in texts)
        repeats = sum(times - 1 for text, times in Counter(map(_unmarked, texts)).items() if "thing" in text)
        if repeats > marks:
            wrong.append(f"{repeats} reminders came twice, and {marks} repeats are marked")
        if self._rows("PRAGMA quick_check") != [("ok",)]:
            wrong.append("the database is damaged")
        return wrong

    def _answered(self) -> int:
        found = self._rows("SELECT COUNT(*) FROM conversations WHERE role = 'assistant'")
        return int(str(found[0][0])) if found else 0

    def _start(self, gate: str, number: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.kills", "--child", gate, str(number)],
            env=self.cli.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _rows(self, sql: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(f"file:{self.cli.home / 'nudge.db'}?mode=ro", uri=True, timeout=20)) as connection:
            return connection.execute(sql).fetchall()


_OPEN = (
    "SELECT key FROM timers WHERE kind IN ('turn', 'deliver') OR (kind = 'reminder' AND agent = 'coach') "
    "UNION SELECT state FROM outbox WHERE state IN ('pending', 'sending', 'unsure')"
)


def _unmarked(text: str) -> str:
    return text.removeprefix(REPEAT_MARK).removeprefix(REPEAT_MARK.strip()).strip()


def _until(ready: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds  # noqa: TID251  (processes and their services live in real time)
    while not (now := ready()) and time.monotonic() < end:  # noqa: TID251
        time.sleep(0.02)
    return now


def live(count: int, home: Path, told: Callable[[str], None] = lambda line: None, start: int = 0) -> Life:
    """Kill that many times, at every gate in turn from the `start`th on. Raises AssertionError with what broke."""
    answer = LONG
    with FakeTelegram() as telegram, FakeAnthropic(default=answer) as anthropic:
        life = Life(Cli(home), telegram, anthropic)
        life.prepare()
        step = max(1, len(GATES) // count)
        for number in range(count):
            life.kill(*GATES[(start + number * step) % len(GATES)])
            told(f"{number + 1} of {count} kills")
        wrong = life.finish()
        assert not wrong, "\n".join(wrong)
    return life


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kills", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--count", type=int, default=200, help="how many kills (default 200)")
    parser.add_argument("--start", type=int, default=0, help="the gate to begin with, by its number")
    parser.add_argument("--child", nargs=2, metavar=("GATE", "N"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child(args.child[0], int(args.child[1]))
    with tempfile.TemporaryDirectory() as folder:
        life = live(
            args.count, Path(folder) / "home", lambda line: print(f"\r{line}", end="", file=sys.stderr), args.start
        )
    print(file=sys.stderr)
    print(json.dumps(life.kills, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
