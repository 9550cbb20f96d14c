"""What people say to a coach without a model, one by one: the right thing follows, or nothing does."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nudge.coach.review import REVIEW, Status
from nudge.instants import Instant, to_datetime
from nudge.testing import live
from tests.coach import utterances
from tests.times import TORONTO, toronto

START = toronto(2026, 2, 18, 11, 49)
NOON = toronto(2026, 2, 18, 12)
AGENT = "coach"
LISTS = {"Today": "today", "This Week": "week", "This Quarter": "quarter", "North Star": "star"}


def rows(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(line.strip(), key) for key, block in table.items() for line in block.splitlines() if line.strip()]


ALL = [(group, *row) for group, table in utterances.GROUPS.items() for row in rows(table)]


async def prepare(life: Any) -> None:
    """Three reminders, two tasks, a goal for the week and one for the quarter, and ten minutes later it is noon."""
    goals = life.documents.texts["GOALS.md"]
    for blank, line in (
        ("[Single most important task]", "Write the intro"),
        ("[Second task if time]", "Book the dentist"),
        ("1. [Specific, completable]", "1. Finish chapter two"),
        ("1. [Process-oriented goal]", "1. Write every weekday"),
    ):
        goals = goals.replace(blank, line, 1)
    life.documents.texts["GOALS.md"] = goals
    await life.passes(seconds=50)
    await life.say("/remind stretch every weekday at 3pm")
    await life.say("/remind call Mum friday 5pm")
    await life.say("/remind take the pills every day at 9pm")
    await life.passes(seconds=(NOON - life.clock.now()) / 1_000_000)


async def state(life: Any) -> dict[str, Any]:
    now = life.clock.now()
    found: dict[str, Any] = {}
    for one in await life.store.reminders.everything(AGENT):
        timer = await life.store.timers.get(AGENT, one.key)
        at = None if timer is None or one.status.ended else local(timer.due_at)
        answered = one.acknowledged_at is not None
        found[f"reminder {one.id}"] = (one.message, at, answered)
    for name, text in (
        ("GOALS.md", life.documents.texts["GOALS.md"]),
        ("MEMORY.md", life.documents.texts["MEMORY.md"]),
    ):
        section = ""
        for line in text.splitlines():
            if line.startswith("## "):
                section = line[3:].partition(" (")[0]
            elif section != "Recent Context" and re.match(r"(?:\d\.|-) ", line) and not re.search(r"\[[^x \]]", line):
                found[f"{name} {section} {re.sub(r'^(?:[0-9][.]|-) ', '', line)}"] = True
    requests = (await life.store.attention.get(AGENT)).requests
    until = max((one for one in (requests.quiet_until, requests.busy_until) if one and one > now), default=None)
    found["restraint"] = "alone" if requests.left_alone else f"quiet {local(until)}" if until else "loud"
    review = await life.store.records.get(AGENT, REVIEW)
    found["review"] = "" if review is None or not review.in_progress else review.status.value
    return found


def local(at: Instant) -> str:
    return to_datetime(at, TORONTO).strftime("%Y-%m-%d %H:%M")


def effects(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """What changed, in the words of the table."""
    found: set[str] = set()
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if key.startswith("reminder "):
            found.add(_reminder(old, new))
        elif key.startswith(("GOALS.md", "MEMORY.md")):
            found |= _line(key, before, after, added=new is not None)
        elif key == "restraint":
            found.add(str(new).replace("quiet 2026-02-18 ", "quiet "))
        else:
            found.add("review" if new == Status.ASKING.value else "paused" if new else "review over")
    return found - {""}


def _reminder(old: Any, new: Any) -> str:
    if old is None:
        return f"+{new[0]} @ {new[1]}" if new[1] else ""
    if new[1] is None:
        return f"-{old[0]}"
    if new[1] != old[1] or new[0] != old[0]:
        return f"{new[0]} @ {new[1]}"
    return f"done {new[0]}" if new[2] and not old[2] else ""


def _line(key: str, before: dict[str, Any], after: dict[str, Any], *, added: bool) -> set[str]:
    name, _, rest = key.partition(" ")
    section = next((one for one in LISTS if rest.startswith(one + " ")), "")
    text = rest.removeprefix(section).strip()
    if name == "MEMORY.md":
        return {f"memory+{text}"} if added else set()
    if not section:
        return {f"bedtime {text[-6:-1]}"} if added and "bedtime" in text else set()
    ticked = f"{name} {section} [x] {text}"
    if not added:
        return set() if ticked in after else {f"{LISTS[section]}-{text}"}
    return {f"ticked {text[4:]}"} if text.startswith("[x] ") else {f"{LISTS[section]}+{text}"}


async def try_out(life: Any, utterance: str) -> tuple[set[str], str]:
    await prepare(life)
    messages = [one.strip() for one in utterance.split(">>")]
    if messages[0] == "(stretch)":
        messages.pop(0)
        await life.passes(hours=3, seconds=2)
        before = await state(life)
    else:
        before = await state(life)
    said: list[str] = []
    for message in messages:
        said = await life.say(message)
    return effects(before, await state(life)), "\n".join(said)


def verdict(utterance: str, expected: str) -> str:
    """ "" if it is right; otherwise what is wrong, with MISREAD in front if something happened that was not wanted."""

    async def scenario(life: Any) -> tuple[set[str], str]:
        return await try_out(life, utterance)

    happened, said = live(scenario, to_datetime(START, TORONTO), zone="America/Toronto")
    wanted, _, words = (part.strip() for part in expected.partition("|"))
    what = " ".join(said.split()).casefold()
    if wanted == "trouble":
        right = happened == set() and "you are not alone" in said
    elif wanted == "kind":
        right = (
            happened == set() and said.endswith("?") and any(word in what for word in ("sorry", "hard", "heavy", "lot"))
        )
    elif wanted == "asks":
        right = happened == set() and "?" in said
    elif wanted in ("nothing", "loud"):
        right = happened <= {"review over"}
    elif wanted == "paused":
        right = happened == {"paused"}
    else:
        right = {one.casefold() for one in happened} == {one.casefold() for one in wanted.split(" & ")} or (
            wanted.startswith("memory+") and any(wanted[7:] in one for one in happened) and len(happened) == 1
        )
    missing = [
        one
        for one in (words.split(",") if words else [])
        if not any(choice.strip().casefold() in what for choice in one.split("/"))
    ]
    if right and not missing and said:
        return ""
    kind = "MISREAD" if happened and not right else "wrong"
    return f"{kind}: {sorted(happened)} {said!r}"


@pytest.mark.slow
@pytest.mark.parametrize(("group", "utterance", "expected"), ALL, ids=[f"{row[0]}: {row[1]}" for row in ALL])
def test_an_utterance_has_its_effect(group: str, utterance: str, expected: str) -> None:
    assert verdict(utterance, expected) == ""


def test_the_table_is_large() -> None:
    assert len(ALL) >= 300
    assert len(utterances.GROUPS) >= 15
