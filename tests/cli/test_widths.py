"""Everything a command prints for people fits the terminal, whoever chose the names."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import termios
from collections.abc import Iterator
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path
from tempfile import TemporaryDirectory
from unicodedata import category, name

import pytest
from rich.cells import cell_len

from nudge.attention.welcome import Cell, Place
from nudge.cli.table import COMMANDS, Group
from nudge.clock import SystemClock
from nudge.columns import cells, cut, table_lines, wrap
from nudge.inline import run_inline
from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.palette import Tone
from nudge.progress.store import Session, SessionStatus
from nudge.queue.agents import Agent
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.spending.call_log import LoggedCall
from nudge.spending.store import UsageRow
from nudge.stores.open import open_sqlite
from nudge.tokens import TokenUse
from nudge.worker.questions import Question, QuestionKind
from tests.cli.cli import NUDGE, CliHere

LONG = "the-one-who-watches-all-pull-requests-of-the-website"
WORDS = (
    "Nimm die Tabletten 💊 mit viel Wasser 🥛, und ruf danach 👩‍👩‍👧 an: 薬を飲んだら家族に電話をかけてください。" * 2
)
COMMAND_LINES = {
    "reminder list": ["reminder", "list", "--all"],
    "reminder show": ["reminder", "show", "pills"],
    "reminder test": ["reminder", "test", "pills"],
    "session list": ["session", "list"],
    "session show": ["session", "show", "s1"],
    "snapshot list": ["snapshot", "list", "--agent", LONG],
    "snapshot diff": ["snapshot", "diff", "1", "--agent", LONG],
    "log": ["log"],
    "why": ["why", "--limit", "20"],
    "why of one thing": ["why", "pills"],
    "ping-budget": ["ping-budget"],
    "attention": ["attention"],
    "budget": ["budget", "--detail", "--agent", LONG],
    "budget history": ["budget", "history", "--detail", "--agent", LONG],
    "inbox": ["inbox", LONG],
    "gateway calls": ["gateway", "calls"],
    "agent list": ["agent", "list"],
    "agent show": ["agent", "show", LONG],
    "config path": ["config", "path"],
    "config check": ["config", "check"],
    "doctor": ["doctor"],
    "eval coach": ["eval", "coach"],
    "simulate": ["simulate", "--days", "1"],
    "version": ["version"],
    "status": ["status"],
    "an error": ["reminder", "show", "nothing " * 20],
    "what is next": [],
}
PATH = re.compile(r"\s*/\S+")
"""`config show` is TOML, and the rest prints data, acts, or is watched."""


@pytest.fixture(scope="module")
def home() -> Iterator[CliHere]:
    """A home with something of everything, in a folder with a short name: a path is never broken."""
    with TemporaryDirectory(dir="/tmp", prefix="n") as folder:
        cli = CliHere(Path(folder) / "h")
        cli("init")
        (cli.home / "roles" / "monitor.yaml").write_text("name: monitor\nkind: worker\ndescription: Watches.\n")
        cli("agent", "add", LONG, "--role", "monitor")
        cli(
            "reminder",
            "add",
            LONG,
            "-m",
            WORDS,
            "--every",
            "1h",
            "--name",
            "pills",
            "--condition",
            "echo " + "yes " * 40,
        )
        cli(
            "reminder",
            "add",
            "-m",
            WORDS,
            "--to-person",
            "--rrule",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH;BYHOUR=9,12,15;BYMINUTE=30",
        )
        cli("reminder", "stretch every weekday at 9")
        work = cli.home / "agents" / LONG / "workspace"
        work.mkdir(parents=True, exist_ok=True)
        (work / "before").write_text("1")
        cli("snapshot", "create", "--agent", LONG)
        (work / "after").write_text("2")
        _fill(cli.home / "nudge.db")
        yield cli


def _fill(path: Path) -> None:
    store, now = open_sqlite(str(path)), Instant(SystemClock().now())
    early = Instant(now - 40 * DAY)
    run_inline(store.agents.add(Agent("coach", "coach", early)))
    for number, result in enumerate(Result):
        at = Instant(now - number * HOUR)
        detail = {"name": WORDS[:40], "until_at": int(now)}
        run_inline(
            store.outcomes.record(Outcome(LONG, f"reminder:{number}", "reminder", at, at, result, WORDS, detail))
        )
    run_inline(store.feed.add(FeedLine(now, LONG, "note", WORDS)))
    run_inline(store.letters.put(Letter(LONG, LONG, WORDS, Priority.NORMAL, now)))
    run_inline(store.welcomes.put("coach", Cell("薬と水の話をする時間", Place(10), unwelcome=3_000_000, at=now)))
    call = LoggedCall(
        "c-1", LONG, "run-" + LONG, now, "anthropic", "claude-cli/2.1 (external)", "claude-sonnet-4-5-20250929", 32_000
    )
    run_inline(
        store.calls.add(replace(call, granted=8_000, waited=MINUTE, lasted=MINUTE, result="refused", reason=WORDS))
    )
    done = Session(LONG, "s1", last_task=WORDS, started_at=now, updated_at=now, asked_by="person")
    waits = replace(done, iteration=1, status=SessionStatus.WAITING, report=WORDS, reason=WORDS)
    assert run_inline(store.sessions.save(waits, 0))
    question = Question("q1", LONG, "s1", QuestionKind.ASK, WORDS, now, Instant(now + HOUR))
    run_inline(store.questions.put(question))
    use = UsageRow("a1", LONG, now, "weekly-review", "claude-sonnet-4-5-20250929", TokenUse(123_456, 7_890), 1_234_567)
    run_inline(store.usage.put(replace(use, known_price=False)))
    run_inline(store.close())


def test_every_command_that_reads_is_here() -> None:
    quiet = {"init", "run", "chat", "pair", "web", "stop", "work", "tui", "exec", "notify", "completion", "fleet"}
    acting = {"add", "edit", "remove", "pause", "resume", "complete", "snooze", "run", "export", "import", "watch"}
    acting |= {"cancel", "answer", "create", "verify", "restore", "reset", "top-up", "set", "hold", "settle", "record"}
    acting |= {"ack", "nack", "wake", "token", "message", "busy", "idle"}
    wanted = set()
    for word, entry in COMMANDS.items():
        if word in quiet:
            continue
        inner = {one for one in entry.commands if one not in acting} if isinstance(entry, Group) else set()
        wanted |= {f"{word} {one}" for one in inner} or {word}
    assert wanted - set(COMMAND_LINES) == {"config show"}


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("command", COMMAND_LINES)
def test_no_line_is_wider_than_the_terminal(home: CliHere, command: str, columns: int) -> None:
    home.environment["COLUMNS"] = str(columns)
    done = home(*COMMAND_LINES[command], code=None)
    lines = (done.stdout + done.stderr).splitlines()
    assert lines
    assert "This is a bug" not in done.stderr
    assert [line for line in lines if cell_len(line) > columns and not PATH.fullmatch(line)] == []


@pytest.mark.parametrize("command", ["reminder list", "inbox", "agent list", "session list", "gateway calls"])
def test_a_table_in_a_pipe_has_one_line_a_row_and_fits_80(home: CliHere, command: str) -> None:
    home.environment.pop("COLUMNS", None)
    lines = home(*COMMAND_LINES[command]).stdout.splitlines()
    home.environment["COLUMNS"] = "80"
    wrapped = home(*COMMAND_LINES[command]).stdout.splitlines()
    table = lines[: lines.index("")] if "" in lines else lines
    assert [line for line in table if cell_len(line) > 80] == []
    assert len(lines) < len(wrapped)


@pytest.mark.parametrize("words", [["--help"], *([word, "--help"] for word in COMMANDS)], ids=" ".join)
def test_help_fits_80_columns(home: CliHere, words: list[str]) -> None:
    home.environment["COLUMNS"] = "80"
    assert [line for line in home(*words).stdout.splitlines() if cell_len(line) > 80] == []


@pytest.mark.process
@pytest.mark.parametrize("colour", [False, True], ids=["without colour", "in colour"])
def test_a_real_terminal_says_how_wide_it_is(home: CliHere, colour: bool) -> None:
    environment = {name: value for name, value in home.environment.items() if name not in ("COLUMNS", "NO_COLOR")}
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 72, 0, 0))
    environment |= {} if colour else {"NO_COLOR": "1"}
    with subprocess.Popen([*NUDGE, "reminder", "list"], env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        told = _read(ours)
        assert process.wait(20) == 0
    assert ("\x1b[" in told) is colour
    lines = told.replace("\r\n", "\n").splitlines()
    assert len(lines) > 4
    assert [line for line in lines if cells(line) > 72] == []


def _read(terminal: int) -> str:
    told = b""
    while select.select([terminal], [], [], 20)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        told += part
    os.close(terminal)
    return told.decode()


@pytest.mark.parametrize(
    "text",
    [
        "mum",
        "買い物",
        "👩‍👩‍👧",
        "❤️",
        "☎",
        "☎️",
        "e\u0301",
        "🇩🇪🇫🇷",
        "👍🏽",
        "🧑🏿‍🚀",
        "ＡＢ",
        "한국어",
        "नमस्ते",
        "ไทย",
        "1️⃣",
        "…“”–█░✓→",
    ],
)
def test_a_text_is_as_wide_as_a_terminal_shows_it(text: str) -> None:
    assert cells(text) == cell_len(text)


def test_every_letter_is_as_wide_as_rich_says() -> None:
    """Where the two know the letter: their tables are of different years."""
    known = [
        chr(code)
        for code in range(0x20, 0x20000)
        if name(chr(code), "") and category(chr(code)) not in ("Cc", "Cs", "Cf")
    ]
    different = [char for char in known if cells(char) != cell_len(char)]
    assert len(different) < len(known) / 200, different


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        pytest.param("a b c", 80, ["a b c"], id="what fits stays"),
        pytest.param("one two three", 7, ["one two", "three"], id="between words"),
        pytest.param("買い物に行く", 6, ["買い物", "に行く"], id="between wide letters"),
        pytest.param(
            "see /home/a/very/long/path now", 12, ["see", "/home/a/very/long/path", "now"], id="not in a path"
        ),
        pytest.param("name   one two", 10, ["name   one", "two"], id="with the spaces that align"),
    ],
)
def test_lines_wrap(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


def test_a_word_longer_than_its_cell_is_split_in_a_table() -> None:
    assert wrap("aaaaaaaaaa", 4, split=True) == ["aaaa", "aaaa", "aa"]
    assert cut("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 5) == "👩‍👩‍👧👩‍👩‍👧…"


def test_a_table_gives_up_the_columns_that_can_be_spared_first() -> None:
    head, row = ["ID", "NAME", "LAST"], ["r-1", "word " * 20, "2026-03-02 09:00"]
    assert table_lines(head, [row], 40, spare=["LAST"])[0] == "ID   NAME"
    assert "LAST" in table_lines(head, [row], 120, spare=["LAST"])[0]


def test_a_colour_takes_no_room() -> None:
    plain = table_lines(["A", "B"], [["one", "two"]], 20)
    painted = table_lines(["A", "B"], [["one", "two"]], 20, tones={0: [Tone.GOOD]})
    assert [cells(line) for line in painted] == [cells(line) for line in plain]
    assert painted[1] == "\x1b[32mone\x1b[0m  two"
