"""docs/json.md is the contract of `--json`: every field of its tables is printed, and nothing that is not in them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from nudge.attention.welcome import Cell, Place
from nudge.clock import SystemClock
from nudge.inline import run_inline
from nudge.instants import HOUR, Instant
from nudge.progress.guard import Guard
from nudge.progress.store import Session, SessionStatus
from nudge.stores.open import open_sqlite, open_store
from nudge.testing import FakeAnthropic, FakeTelegram
from nudge.worker.questions import Question, QuestionKind
from tests.cli.cli import NUDGE, Cli, until

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
SCRIPTED = "a crash while sending would be needed"
UNSEEN = {
    ("an-event", "possibly_repeated"): SCRIPTED,
    ("nudge-eval-coach", "rows.[].failed.[].missing.[]"): "the rules say what they should, or something else",
}
_LINK = re.compile(r"\[[^\]]*\]\(#([a-z-]+)\)")
_ALL_FIELDS_OF = re.compile(r"All\s+fields\s+of\s+" + _LINK.pattern)


@dataclass
class Field:
    """What a table says about one value, and whether any output had it."""

    type: str = "object"
    nullable: bool = False
    optional: bool = False
    inside: dict[str, Field] = field(default_factory=dict)
    seen: bool = False


class Contract:
    """The tables of the page: section → fields, by the anchor of the section's heading."""

    def __init__(self, page: str) -> None:
        self.sections: dict[str, Field] = {}
        included: list[tuple[Field, str]] = []
        for heading, text in re.findall(r"^##+ (.+)\n((?:(?!##).*\n?)*)", page, re.MULTILINE):
            rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:3] == "| `"]
            if not rows:
                continue
            section = self.sections[heading.replace(" ", "-").replace("---", "-")] = Field(seen=True)
            for path, type_, absence, _ in rows:
                self._add(section, path.strip("`"), type_, absence)
            if named := _ALL_FIELDS_OF.search(text):
                included.append((section, named[1]))
        self.sections = {heading.lower(): section for heading, section in self.sections.items()}
        for section, other in included:
            section.inside = {**self.sections[other].inside, **section.inside}

    def _add(self, section: Field, path: str, type_: str, absence: str) -> None:
        node = section
        for part in path.replace("[]", ".[]").split("."):
            node = node.inside.setdefault(part, Field())
        node.type, node.nullable, node.optional = type_, "null" in absence, "absent" in absence

    def check(self, section: str, value: Any) -> None:
        self._check(self.sections[section], value, section)

    def _check(self, node: Field, value: Any, where: str) -> None:
        node.seen = True
        if value is None:
            assert node.nullable, f"{where} is null"
            return
        if linked := _LINK.match(node.type):
            self._check(self.sections[linked[1]], value, where)
            return
        assert _is(node.type, value), f"{where} is no {node.type}: {value!r}"
        named = {name: one for name, one in node.inside.items() if name not in ("[]", "*")}
        if named:
            assert set(value) <= set(named), f"{where}: not in docs/json.md"
            assert {name for name, one in named.items() if not one.optional} <= set(value), f"{where}: missing"
        for name, one in named.items():
            if name in value:
                self._check(one, value[name], f"{where}.{name}")
        for name, inner in value.items() if "*" in node.inside else ():
            self._check(node.inside["*"], inner, f"{where}.{name}")
        for number, inner in enumerate(value) if "[]" in node.inside else ():
            self._check(node.inside["[]"], inner, f"{where}[{number}]")

    def unseen(self) -> Iterator[tuple[str, str]]:
        for section, node in self.sections.items():
            yield from ((section, path) for path in _unseen(node))


def _unseen(node: Field, path: str = "") -> Iterator[str]:
    for name, one in node.inside.items():
        below = f"{path}.{name}".strip(".")
        if one.seen or one.inside:
            yield from _unseen(one, below)
        else:
            yield below


def _is(type_: str, value: Any) -> bool:
    if type_ == "time":
        return isinstance(value, str) and "T" in value and datetime.fromisoformat(value).utcoffset() is not None
    if type_ == "day":
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    kinds: dict[str, type | tuple[type, ...]] = {
        "text": str,
        "flag": bool,
        "whole": int,
        "number": (int, float),
        "object": dict,
        "list": list,
    }
    return isinstance(value, kinds[type_]) and (type_ == "flag" or not isinstance(value, bool))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What the commands print in a home with something of everything, by the section that describes it."""
    folder = tmp_path_factory.mktemp("json")
    with FakeAnthropic() as service:
        key = {"ANTHROPIC_API_KEY": service.api_key, "ANTHROPIC_BASE_URL": service.url}
        cli = Cli(folder / "home", key)
        cli("init")
        (cli.home / "roles" / "monitor.yaml").write_text("name: monitor\nkind: worker\ndescription: Watches.\n")
        found = {"nudge-reminder-add": _add_reminders(cli)}
        with cli.start():
            cli("chat", stdin="hello\n")
            until(lambda: cli.json("inbox", "monitor") and cli.json("why"), "the due reminder was delivered")
            found |= _look(cli)
    found |= _exchange(cli, folder)
    off = Cli(folder / "off")
    off("init")
    (off.home / "nudge.toml").write_text('[attention]\nping_budget = "off"\n')
    found["nudge-attention"] = [_learned(cli)]
    found["nudge-ping-budget"] = [cli.json("ping-budget"), off.json("ping-budget")]
    return found | _snapshots(cli) | _sessions(cli) | _simulate(cli) | _pair(off)


def _learned(cli: Cli) -> Any:
    store = open_sqlite(str(cli.home / "nudge.db"))
    run_inline(store.welcomes.put("coach", Cell("morning", Place(10), unwelcome=3_000_000, at=SystemClock().now())))
    run_inline(store.close())
    return cli.json("attention")


def _add_reminders(cli: Cli) -> list[Any]:
    said = cli.json("reminder", "call mum every day at 5pm")
    cli("agent", "add", "monitor", "--role", "monitor")
    limits = ["--count", "5", "--until", "2099-01-01"]
    return [
        said,
        cli.json("reminder", "add", "monitor", "-m", "Look", "--at", "2026-01-01T10:00", "--late", "always"),
        cli.json("reminder", "add", "monitor", "-m", "a", "--every", "1h", "--name", "prs", "--condition", "echo 3"),
        cli.json("reminder", "add", "monitor", "-m", "b", "--every", "1h", *limits, "--condition-prompt", "Is it so?"),
        cli.json("reminder", "add", "monitor", "-m", "c", "--cron", "0 15 * * *", *limits),
        cli.json("reminder", "add", "monitor", "-m", "d", "--rrule", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0"),
        cli.json("reminder", "add", "monitor", "-m", "e", "--idle", "5m"),
        cli.json("reminder", "add", "-m", "f", "--chain", "4", "--every", "30m", "--to-person"),
        cli.json("reminder", "edit", "prs", "--every", "2h"),
    ]


def _look(cli: Cli) -> dict[str, list[Any]]:
    lines = [json.loads(line) for line in cli("log", "--json").stdout.splitlines()]
    goals = cli.home / "agents" / "coach" / "GOALS.md"
    goals.write_text(goals.read_text().replace("wake_target", "woke_target"))
    outcomes = cli.json("why")
    fired = next(one["key"] for one in outcomes if one["kind"] == "reminder").removeprefix("reminder:")
    return {
        "nudge-status": [cli.json("status")],
        "an-outcome": [line for line in lines if line["type"] == "outcome"],
        "a-feed-line": [line for line in lines if line["type"] == "feed"],
        "nudge-why": outcomes,
        "nudge-inbox": cli.json("inbox", "monitor"),
        "nudge-agent-list": cli.json("agent", "list"),
        "nudge-agent-show": [cli.json("agent", "show", "monitor")],
        "nudge-config-path": [cli.json("config", "path")],
        "nudge-config-show": [cli.json("config", "show")],
        "nudge-config-check": [cli.json("config", "check")],
        "nudge-doctor": [cli.json("doctor")],
        "nudge-version": [cli.json("version")],
        "nudge-reminder-list": cli.json("reminder", "list", "--all"),
        "nudge-reminder-show": [cli.json("reminder", "show", fired), cli.json("reminder", "show", "prs")],
        "nudge-reminder-test": [cli.json("reminder", "test", "prs"), cli.json("reminder", "test", fired)],
        "nudge-budget": [cli.json("budget"), cli.json("budget", "--detail"), cli.json("budget", "top-up", "1")],
        "nudge-budget-history": [*cli.json("budget", "history"), *cli.json("budget", "history", "--detail")],
        **_gateway(cli),
    }


def _gateway(cli: Cli) -> dict[str, list[Any]]:
    """One call that is made, and one that is refused."""
    ask = (
        "import os, httpx2; url = os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages';"
        "body = {'model': 'sonnet', 'max_tokens': 9, 'messages': [{'role': 'user', 'content': 'Hi'}]};"
        "httpx2.post(url, json=body, headers={'x-api-key': '%s', 'anthropic-version': '2023-06-01'})"
    )
    with FakeAnthropic() as service:
        there = Cli(cli.home, {**cli.environment, "ANTHROPIC_BASE_URL": service.url})
        ran = ["exec", "--agent", "monitor", "--json"]
        python = ["--", sys.executable, "-c", ask % service.api_key]
        ended = [there(*ran, *python), there(*ran, "--budget", "0", *python)]
    lines = [json.loads(line) for line in cli("log", "--json").stdout.splitlines()]
    return {
        "a-call": [line for line in lines if line["type"] == "call"],
        "nudge-exec": [json.loads(one.stderr) for one in ended],
        "nudge-gateway-calls": cli.json("gateway", "calls"),
    }


def _exchange(cli: Cli, folder: Path) -> dict[str, list[Any]]:
    exported = cli("reminder", "export", "--all").stdout
    (folder / "reminders.json").write_text(exported)
    imported = cli.json("reminder", "import", str(folder / "reminders.json"))
    return {"nudge-reminder-export": [json.loads(exported)], "nudge-reminder-import": [imported]}


def _snapshots(cli: Cli) -> dict[str, list[Any]]:
    """Something of every kind of change, and a damaged one on top."""
    work = cli.home / "agents" / "monitor" / "workspace"
    for name in ("gone", "other"):
        (work / name).write_text(name)
    os.mkfifo(work / "pipe")
    made = cli.json("snapshot", "create")
    (work / "gone").unlink()
    (work / "other").write_text("changed")
    (work / "new").write_text("new")
    cli("snapshot", "create")
    newest = next((cli.home / "snapshots" / "monitor" / "manifests").glob("*2"))
    differs = json.loads(cli("snapshot", "verify", "1", "--json", code=1).stdout)
    diffs = [cli.json("snapshot", "diff", "1"), cli.json("snapshot", "diff", "1", "2")]
    newest.write_bytes(b"damaged")
    damaged = json.loads(cli("snapshot", "verify", "--json", code=1).stdout)
    listed = cli.json("snapshot", "list")
    restored = [cli.json("snapshot", "restore"), cli.json("snapshot", "restore", "1")]
    return {
        "nudge-snapshot-create": [made],
        "nudge-snapshot-verify": [differs, damaged],
        "nudge-snapshot-list": listed,
        "nudge-snapshot-diff": diffs,
        "nudge-snapshot-restore": restored,
    }


def _sessions(cli: Cli) -> dict[str, list[Any]]:
    """One that is done, a subagent of it, and one that waits for an answer."""
    now = Instant(SystemClock().now())
    done = Session("monitor", "s1", last_task="Look", started_at=now, updated_at=now, asked_by="person")
    ended = replace(done, status=SessionStatus.DONE, report="Looked.", reason="Nothing.", snapshot="00000001")
    asks = replace(done, id="s2", status=SessionStatus.WAITING, guard=Guard().state())
    question = Question("q1", "monitor", "s2", QuestionKind.ASK, "Go?", now, Instant(now + HOUR))

    async def write() -> None:
        store = await open_store(f"sqlite:///{cli.home / 'nudge.db'}")
        for session in (ended, replace(ended, id="s1.a", parent="s1"), asks):
            assert await store.sessions.save(replace(session, iteration=1), 0)
        await store.questions.put(question)
        await store.close()

    asyncio.run(write())
    return {"nudge-session-list": [cli.json("session", "list")]}


def _pair(cli: Cli) -> dict[str, list[Any]]:
    with FakeTelegram() as telegram:
        token = {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_BASE": telegram.url}
        command = [*NUDGE, "pair", "--json"]
        with subprocess.Popen(command, env=cli.environment | token, stdout=subprocess.PIPE, text=True) as pairing:
            assert pairing.stdout is not None
            opened = json.loads(pairing.stdout.readline())
            telegram.say(opened["code"])
            return {"nudge-pair": [opened, json.loads(pairing.stdout.readline())]}


def _simulate(cli: Cli) -> dict[str, list[Any]]:
    week = ["simulate", "--from", "2026-11-16"]
    return {
        "nudge-simulate": [cli.json(*week)],
        "nudge-eval-coach": [cli.json("eval", "coach")],
        "nudge-simulate-compare": [cli.json(*week, "--days", "1", "--compare", "ping_budget=off")],
    }


SECTIONS = list(Contract(PAGE.read_text()).sections)


@pytest.mark.process
@pytest.mark.parametrize(
    "section", [name for name in SECTIONS if name.startswith("nudge-")] + ["an-outcome", "a-feed-line"]
)
def test_a_command_prints_what_the_page_says_and_nothing_else(section: str, printed: dict[str, list[Any]]) -> None:
    assert printed[section]
    for value in printed[section]:
        Contract(PAGE.read_text()).check(section, value)


@pytest.mark.process
def test_every_field_of_the_page_is_printed_by_a_command(printed: dict[str, list[Any]]) -> None:
    contract = Contract(PAGE.read_text())
    for section, values in printed.items():
        for value in values:
            contract.check(section, value)
    assert set(contract.unseen()) == set(UNSEEN)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        pytest.param({"version": "1"}, "missing", id="a field that is not there"),
        pytest.param(
            {"version": "1", "python": "3", "perl": "5"}, "not in docs/json.md", id="a field nobody described"
        ),
        pytest.param({"version": 1, "python": "3"}, "no text", id="another type"),
        pytest.param({"version": None, "python": "3"}, "is null", id="a null that was not announced"),
    ],
)
def test_the_comparison_notices(value: dict[str, Any], says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        Contract(PAGE.read_text()).check("nudge-version", value)
