"""A scripted loop of tool calls that is killed with SIGKILL at every point at which it writes, and then goes on.

`python -m … URL FOLDER` runs it once for each such point, each time for an agent of its own, in real processes that are
forks of this one, and prints what it found as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nudge.model import ModelReply, ModelRequest, Purpose, text_reply, user
from nudge.progress.checkpoints import Checkpoints
from nudge.progress.compaction import message_tokens
from nudge.queue.agents import Agent
from nudge.stores.open import open_store
from nudge.tokens import TokenUse
from tests.spending.kit import spending_on
from tests.spending.spend_together import PassingClock
from tests.times import NOON

STEPS = 2
WINDOW = 3_000_000
HISTORY = 40
"""So few tokens that older messages are replaced by a summary on the way."""


class Script:
    """Asks for the tool call that the session has come to, then says that it is done."""

    name = "script"

    async def complete(self, request: ModelRequest) -> ModelReply:
        step = int(request.turns[0].text.split()[0])
        return text_reply("done" if step == STEPS else f"call-{step}", request.model, TokenUse(input=10, output=5))

    async def close(self) -> None: ...


async def work(url: str, agent: str, log: Path, probe: Callable[[str], None]) -> None:
    store = await open_store(url, connections=2)
    store.database.probe = probe
    clock = PassingClock()
    spending = spending_on(store, clock, WINDOW, Script())
    checkpoints = Checkpoints(store, limit=HISTORY, down_to=HISTORY)
    session = replace(await checkpoints.load(agent, "s1"), last_task="Tidy up", sandbox_id="box-1")
    while True:
        said = user(f"{session.iteration} {json.dumps(session.messages)}")
        request = ModelRequest(Purpose.WORK, "", (), (said,), 100)
        reply = await spending.call(agent, request, run="s1")
        if reply.text == "done":
            break
        probe("before the tool")
        with log.open("a") as file:
            file.write(f"{reply.text}\n")
            file.flush()
            os.fsync(file.fileno())
        probe("after the tool")
        new = [
            {"role": "assistant", "content": [{"type": "tool_use", "id": reply.text, "name": "touch", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": reply.text, "content": "ok " * 20}]},
        ]
        session = await checkpoints.save(replace(session, phase=f"step {session.iteration}"), new, clock.now())
    await store.close()


def in_a_process(url: str, agent: str, log: Path, die_at: int | None) -> bool:
    """Run the loop in a fork; whether it was killed. It kills itself when it has come to the point `die_at`."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    points = 0

    def probe(name: str) -> None:
        nonlocal points
        if points == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        points += 1

    code = 1
    try:
        asyncio.run(work(url, agent, log, probe))
        code = 0
    finally:
        os._exit(code)


async def add(url: str, agent: str) -> None:
    store = await open_store(url, connections=1)
    await store.agents.add(Agent(agent, "worker", NOON))
    await store.close()


async def found(url: str, agent: str, log: Path) -> dict[str, Any]:
    store = await open_store(url, connections=1)
    session = await Checkpoints(store).load(agent, "s1")
    status = await spending_on(store, PassingClock(), WINDOW).state(agent, NOON)
    said = await Checkpoints(store).everything(agent, "s1")
    usage = await store.usage.recent(agent, limit=1000)
    await store.close()
    return {
        "iteration": session.iteration,
        "phase": session.phase,
        "last_task": session.last_task,
        "tokens": message_tokens(session.messages),
        "said": session.said,
        "results": [block["tool_use_id"] for one in said if one["role"] == "user" for block in one["content"]],
        "calls": log.read_text().split() if log.exists() else [],
        "spent": status.meter.spent,
        "logged": sum(row.cost for row in usage),
        "held": status.held,
    }


def main(url: str, folder: Path) -> None:
    runs = []
    point, killed = 0, True
    while killed:
        agent, log = f"worker-{point}", folder / f"calls-{point}"
        asyncio.run(add(url, agent))
        killed = in_a_process(url, agent, log, point)
        after_kill = asyncio.run(found(url, agent, log))
        assert not in_a_process(url, agent, log, None)
        runs.append({"killed": killed, "after_kill": after_kill, "after_all": asyncio.run(found(url, agent, log))})
        point += 1
    print(json.dumps(runs))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
