"""A simulated worker: the real loop, tools, guard and money, with a model that works as workers do on average.

Nothing of the person's is touched: it works in an empty folder of the copied home, and no command is run.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from nudge.clock import Clock
from nudge.daemon.working import WorkPorts
from nudge.home.folder import Home
from nudge.home.roles import find_role
from nudge.model import (
    Block,
    ModelReply,
    ModelRequest,
    Purpose,
    Role,
    StopReason,
    StreamEvent,
    Text,
    ToolResult,
    ToolUse,
    replay,
    words_of,
)
from nudge.progress.store import Session
from nudge.queue.agents import Agent
from nudge.tokens import TokenUse
from nudge.worker.loop import RunOptions
from nudge.worker.prompts import instructions
from nudge.worker.sandbox import Ending, Job, Ran

CHANCE_OF_END = 0.05
"""That the next turn is the report: a task takes about twenty turns."""
FILES = 60
THINKING = (3.0, 25.0)
COMMAND = (1.0, 45.0)
_TOOLS = {"read_file": 8, "list_files": 1, "bash": 6, "write_file": 4, "plan": 1}
_CHARACTERS_PER_TOKEN = 4


class SimulatedWork:
    """A model whose turns are drawn: it reads, plans, writes, runs commands, and reports after about as many turns as
    tasks take. What it reads and writes has a usual size, and the conversation is in the prompt cache."""

    name = "simulated"

    def __init__(self, clock: Clock, seed: int) -> None:
        self._clock = clock
        self._seed = seed

    async def complete(self, request: ModelRequest) -> ModelReply:
        random = Random(f"{self._seed}:{self._clock.now()}")
        await self._clock.sleep(random.uniform(*THINKING))
        content = self._turn(request, random)
        ends = not any(isinstance(block, ToolUse) for block in content)
        return ModelReply(
            content,
            request.model,
            _usage(request, random),
            stop_reason=StopReason.END_TURN if ends else StopReason.TOOL_USE,
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        async for event in replay(await self.complete(request)):
            yield event

    async def close(self) -> None:
        return None

    def _turn(self, request: ModelRequest, random: Random) -> tuple[Block, ...]:
        if request.purpose is Purpose.SUMMARY or not request.tools:
            return (Text(f"So far: {_words(random, 120)}"),)
        offered = {tool.name for tool in request.tools}
        begun = any(isinstance(block, ToolResult) for block in request.turns[-1].content)
        wanted = {name: weight for name, weight in _TOOLS.items() if name in offered}
        number = sum(turn.role is Role.ASSISTANT for turn in request.turns)
        if not wanted or (begun and random.random() < CHANCE_OF_END):
            return (ToolUse(f"call-{number}", "report", {"text": f"Done. {_words(random, 60)}"}),)
        (name,) = random.choices(list(wanted), list(wanted.values()))
        return (ToolUse(f"call-{number}", name, _input(name, random)),)


class NothingRuns:
    """A sandbox in which commands take as long and say as much as commands do, and nothing runs."""

    name = "simulated"
    confines = True

    def __init__(self, clock: Clock, seed: int) -> None:
        self._clock = clock
        self._seed = seed

    async def run(self, job: Job) -> Ran:
        random = Random(f"{self._seed}:{job.command}:{self._clock.now()}")
        await self._clock.sleep(random.uniform(*COMMAND))
        return Ran(Ending.EXITED, int(random.random() < 0.2), _words(random, random.randint(20, 600)))


class NothingKept:
    """Workspaces without snapshots: nothing crashes in a simulation."""

    def __init__(self) -> None:
        self._made = 0

    async def keep(self, session: Session) -> str:
        self._made += 1
        return f"{self._made:08d}"

    async def put_back(self, agent: str, snapshot: str) -> Sequence[str]:
        return ()

    async def send_away(self, agent: str) -> None:
        return None

    @asynccontextmanager
    async def changing(self, agent: str) -> AsyncIterator[None]:
        yield


def works(home: Home, agent: Agent) -> bool:
    """Whether nudge's own worker runs this agent."""
    role = find_role(home, agent.role)
    return role is not None and role.works


def simulated_work(home: Home, clock: Clock, seed: int, options: RunOptions) -> WorkPorts:
    """What the workers of a copied home work with."""
    sandbox = NothingRuns(clock, seed)
    made: set[Path] = set()

    def folder_of(agent: str) -> Path:
        folder = home.workspace(agent)
        if folder not in made:
            made.add(folder)
            _fill(folder, seed)
        return folder

    return WorkPorts(
        works=lambda agent: works(home, agent),
        instructions=_told(home),
        folder_of=folder_of,
        sandbox_of=lambda agent: sandbox,
        workspaces=NothingKept(),
        options=options,
    )


def _told(home: Home) -> Callable[[str], str]:
    def told(agent: str) -> str:
        notes = home.agent(agent) / "AGENTS.md"
        return instructions(agent, "", notes.read_text("utf-8") if notes.is_file() else "")

    return told


def _fill(folder: Path, seed: int) -> None:
    """A small project: files of the usual sizes."""
    random = Random(f"{seed}:files")
    source = folder / "src"
    source.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        lines = (_words(random, 8) for _ in range(random.randint(20, 250)))
        (source / f"part{number}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _input(name: str, random: Random) -> Mapping[str, Any]:
    path = f"src/part{random.randrange(FILES)}.py"
    match name:
        case "read_file":
            return {"path": path}
        case "list_files":
            return {"path": "src"}
        case "bash":
            return {"command": f"pytest -q tests/test_part{random.randrange(FILES)}.py -k case{random.randrange(999)}"}
        case "plan":
            return {"steps": [{"step": _words(random, 6), "status": "pending"} for _ in range(random.randint(2, 5))]}
        case _:
            return {"path": path, "content": _words(random, random.randint(50, 800)) + "\n"}


def _usage(request: ModelRequest, random: Random) -> TokenUse:
    """The prompt, nearly all of it read from the cache but for what came since the model's last turn."""
    everything = sum(len(text) for text in request.texts()) // _CHARACTERS_PER_TOKEN
    last = request.turns[-1] if request.turns else None
    new = sum(len(words_of(block)) for block in last.content) // _CHARACTERS_PER_TOKEN if last else 0
    output = min(request.max_tokens, random.randint(60, 900))
    return TokenUse(input=0, output=output, cache_read=max(0, everything - new), cache_write=new)


def _words(random: Random, count: int) -> str:
    return " ".join(random.choices(_VOCABULARY, k=count))


_TEXT = """the part returns its value when a test passes and another reads one line of the file before it writes
the next result of that call into this list for each name"""
_VOCABULARY = _TEXT.split()
