"""Death at any moment: every write of the store and of a file is tried as the last thing that a process did."""

from __future__ import annotations

import asyncio
from pathlib import Path

from nudge.queue.channel import REPEAT_MARK, Inbound
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.stores.open import open_store
from tests.coach.rig import Rig, Scripted, says
from tests.times import NOON

REPLY = says(
    "All set.",
    {"action": "update_memory", "section": "Preferences", "add": "Likes tea"},
    {"action": "update_memory", "section": "Preferences", "remove": "Prefers casual tone, not preachy"},
    {"action": "update_goals", "section": "Today", "lines": ["Write", "Run"]},
    {"action": "add_reminder", "text": "call Mum", "when": "in 2h"},
    context="They planned the day.",
)
UPDATES = [
    Inbound(NOON, text, id=str(number), cursor=str(number))
    for number, text in enumerate(["plan my day", "/remind stretch in 3h", "/ping"], 11)
]
CHANNEL = "here"


class PowerCutError(BaseException):
    pass


class Fuse:
    """Cuts the power at the n-th write, and at every one after it."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, block: str = "") -> None:
        self.left -= 1
        if self.left <= 0:
            raise PowerCutError(block)


async def live(clock: VirtualClock, folder: Path, fuse: Fuse) -> Rig:
    """One life of the process: take what the channel still has, answer what waits, until the end or a power cut."""
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # the dead do not complain
    store = await open_store(f"sqlite:///{folder / 'nudge.db'}")
    rig = await Rig(clock, store, folder, Scripted(REPLY)).open()
    await store.lanes.release_owner("test")
    write = rig.documents.write

    def fused_write(agent: str, name: str, text: str) -> None:
        fuse(f"before {name}")
        write(agent, name, text)
        fuse(f"after {name}")

    rig.documents.write = fused_write  # type: ignore[method-assign]
    store.database.probe = fuse  # type: ignore[attr-defined]
    listener = rig.coach.listener
    try:
        for update in UPDATES:
            if int(update.cursor) > int(await listener.cursor("coach", CHANNEL) or 0):
                await listener.hear("coach", update, channel=CHANNEL)
        await rig.settle(30)
    except PowerCutError:
        pass
    finally:
        store.database.probe = None  # type: ignore[attr-defined]
    return rig


def test_a_power_cut_at_any_write_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    points = 0
    for cut in range(1, 400):
        points, folder = cut, tmp_path / str(cut)
        folder.mkdir()
        fuse = Fuse(cut)

        async def main(clock: VirtualClock, folder: Path = folder, fuse: Fuse = fuse, cut: int = cut) -> None:
            first = await live(clock, folder, fuse)
            sent = first.channel.texts
            await first.store.close()
            second = await live(clock, folder, Fuse(10_000))
            assert first.model is not None
            assert second.model is not None
            asked = [request.attempt_id for request in (*first.model.requests, *second.model.requests)]
            assert len(set(asked)) == len(asked), "a call that was paid before the power cut is asked again as itself"
            await check(second, [*sent, *second.channel.texts], cut)
            await second.store.close()

        run_virtual(main, NOON)
        if fuse.left > 0:
            break
    assert 30 < points < 399


async def check(rig: Rig, sent: list[str], cut: int) -> None:
    where = f"cut at write {cut}"
    plans = [text for text in sent if "All set." in text]
    first, *repeats = plans
    assert all(text.startswith(REPEAT_MARK) for text in repeats), where
    for part in (
        "I've noted that",
        "Done, I've taken “Prefers casual tone",
        "Today is now: 1. Write; 2. Run",
        "call Mum",
    ):
        assert part in first, where
    assert {text.removeprefix(REPEAT_MARK) for text in plans} == {first.removeprefix(REPEAT_MARK)}, where
    reminders = sorted(one.message for one in await rig.reminders.list("coach"))
    assert reminders == ["call Mum", "stretch"], where
    memory, goals = rig.document("MEMORY.md"), rig.document("GOALS.md")
    assert memory.count("- Likes tea") == 1, where
    assert "Prefers casual tone" not in memory, where
    assert "They planned the day." in memory, where
    assert "1. Write\n2. Run\n" in goals, where
    assert len(await rig.store.activity.since("coach", NOON)) == 1, where
    said = [one.role for one in await rig.store.conversations.recent("coach")]
    assert said == ["assistant", "user"], where
    assert await rig.coach.listener.cursor("coach", CHANNEL) == "13", where
