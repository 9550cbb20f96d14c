"""A reminder is fired by a process that dies by SIGKILL at each of the store's write points in turn.

python -m tests.reminders.crash URL SCENE FOLDER

For every k, with an agent of its own: prepare, fork, and let the child kill itself just before the k-th write (or
commit, or just after a commit); look at what is there; then let a second child finish the work, and look again. The
last k is the first that no child reaches. One JSON object a line.

It is a process of its own, with one thread, so that forking is safe and nothing has to be imported again.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from nudge.attention.gate import Gate
from nudge.attention.quiet import Person
from nudge.instants import MINUTE, Instant
from nudge.queue.agents import Agent
from nudge.queue.channel import Channel, Outbound, Receipt
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Dispatcher
from nudge.reminders.firing import ReminderFiring
from nudge.reminders.handover import Handover
from nudge.reminders.reminder import Source
from nudge.reminders.service import Reminders
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.stores.open import open_store
from nudge.stores.store import SqlStore
from nudge.testing import ScriptedConditions
from tests.reminders.reminder_values import asked
from tests.times import NOON, TORONTO

SCENES = {
    "agent": (asked("Check CI.", every="30m", command="true"), Source.CLI),
    "person": (asked("Wind down.", name="w", in_="30m", to_person=True, critical=True), Source.FILE),
    "chain": (asked("Started?", every="30m", chain=3, to_person=True), Source.CHAT),
}
DUE = Instant(NOON + 30 * MINUTE)


class FileChannel(Channel):
    """What was sent, in a file that survives the process."""

    def __init__(self, file: Path) -> None:
        self._file = file

    async def send(self, message: Outbound) -> Receipt:
        with self._file.open("a") as lines:
            lines.write(json.dumps([message.text, message.possibly_repeated]) + "\n")
        return Receipt((f"m{message.id}",))


def person_of(agent: str) -> Person:
    return Person(TORONTO)


async def prepare(url: str, agent: str, scene: str) -> str:
    store = await open_store(url)
    definition, source = SCENES[scene]
    await store.agents.add(Agent(agent, "coach", NOON))
    added = await Reminders(store, person_of).add(agent, definition, NOON, source)
    await store.close()
    return added.reminder.id


def fire(url: str, agent: str, sent: Path, *, last: int | None, points: Path) -> None:
    """What the child does: the daemon for one minute of virtual time."""
    seen = 0

    def probe(name: str) -> None:
        nonlocal seen
        seen += 1
        with points.open("a") as lines:
            lines.write(f"{name}\n")
        if seen == last:
            os.kill(os.getpid(), signal.SIGKILL)

    async def main(clock: VirtualClock) -> None:
        store = await open_store(url)
        await store.lanes.release_owner(agent)  # as the next daemon of this home does
        if last is not None:
            store.database.probe = probe
        reminders = Reminders(store, person_of)
        delivery = Delivery(store, lambda name: FileChannel(sent))
        gate = Gate(store, person_of, reminders.claims)
        firing = ReminderFiring(store, Handover(store, delivery.post), gate, ScriptedConditions(True))
        handlers = {"reminder": firing.fire, "deliver": delivery.deliver}
        dispatcher = Dispatcher(store, clock, handlers, owner=agent, longest_wait=3600)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(30)
        store.database.probe = None
        dispatcher.stop()
        await running
        await store.close()

    run_virtual(main, DUE)


def forked(url: str, agent: str, sent: Path, *, last: int | None, points: Path) -> bool:
    """Whether the child came to its end."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            fire(url, agent, sent, last=last, points=points)
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0, "the child failed"
        return True
    assert os.WTERMSIG(status) == signal.SIGKILL
    return False


async def look(url: str, agent: str, reminder_id: str) -> dict[str, Any]:
    store: SqlStore = await open_store(url)
    reminder = await store.reminders.get(reminder_id)
    assert reminder is not None
    timer = await store.timers.get(agent, reminder.key)
    found = {
        "state": [reminder.fire_count, reminder.last_fired_at, reminder.status.value, reminder.asked],
        "letters": [letter.count for letter in await store.letters.unread(agent)],
        "messages": [message.state.value for message in await store.outbox.recent(agent)],
        "outcomes": [
            [row.slot_at - NOON, row.result.value, row.final]
            for row in await store.outcomes.recent(agent=agent, key=reminder.key)
        ],
        "timer": None if timer is None else timer.due_at - NOON,
    }
    await store.close()
    return found


def main(url: str, scene: str, folder: Path) -> None:
    for last in itertools.count(1):
        agent = f"{scene}{last}"
        points, sent = folder / f"{agent}.points", folder / f"{agent}.sent"
        points.touch()
        sent.touch()
        reminder_id = asyncio.run(prepare(url, agent, scene))
        survived = forked(url, agent, sent, last=last, points=points)
        crashed = asyncio.run(look(url, agent, reminder_id))
        forked(url, agent, sent, last=None, points=points)
        finished = asyncio.run(look(url, agent, reminder_id))
        lines = [json.loads(line) for line in sent.read_text().splitlines()]
        report = {
            "points": points.read_text().split(),
            "survived": survived,
            "crashed": crashed,
            "finished": finished,
            "sent": lines,
        }
        print(json.dumps(report), flush=True)
        if survived:
            return


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
