"""Agents that work, and agents that are stuck, in a small world whose answers follow from what was done in it."""

from __future__ import annotations

import random
from typing import Any

from nudge.progress.guard import Guard
from nudge.progress.loops import LoopDetector, LoopResult
from nudge.tokens import TokenUse

STRETCHES = ("look", "page", "mend", "poll", "retry", "commit", "type", "search")


class Worker:
    """An agent that gets on: it reads files, mends bugs and tests, polls, retries, commits, types and searches.

    One kind edits with tools, the other with a shell. It looks at nothing twice unless something has changed.
    """

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.detector = LoopDetector()
        self.by_shell = self.chance.random() < 0.5
        self.alarms: list[tuple[str, Any, LoopResult]] = []
        self.files = {f"f{n}.py": [f"line {line} of {n}" for line in range(40)] for n in range(12)}
        self.bugs = self.chance.randrange(1, 9)
        self.version = 0
        self.known = set[Any]()
        self.turn = 0

    def work(self, stretches: int) -> None:
        for _ in range(stretches):
            getattr(self, self.chance.choice(STRETCHES))()

    def do(self, tool: str, args: dict[str, Any], result: str = "", error: str = "") -> None:
        self.turn += 1
        outcome: dict[str, Any] = {"error": error} if error else {"result": result}
        verdict = self.detector.record(tool, args, step=self.turn, **outcome)
        if verdict.is_loop:
            self.alarms.append((tool, args, verdict))

    def fresh(self, *what: object) -> bool:
        new = what not in self.known
        self.known.add(what)
        return new

    def read(self, name: str, offset: int) -> None:
        if self.fresh(name, offset, self.version):
            page = "\n".join(self.files[name][offset : offset + 10])
            if self.by_shell:
                self.do("bash", {"command": f"sed -n {offset},{offset + 10}p {name}"}, page)
            else:
                self.do("read_file", {"path": name, "offset": offset}, page)

    def look(self) -> None:
        for name in self.chance.sample(sorted(self.files), self.chance.randrange(1, 6)):
            self.read(name, 0)

    def page(self) -> None:
        name = self.chance.choice(sorted(self.files))
        for offset in range(0, 40, 10):
            self.read(name, offset)

    def mend(self) -> None:
        for _ in range(self.chance.randrange(1, 4)):
            name, line = self.chance.choice(sorted(self.files)), self.chance.randrange(40)
            self.version += 1
            old, new = self.files[name][line], f"line v{self.version}"
            self.files[name][line] = new
            if self.by_shell:
                words = self.chance.choice(["Edit", "Change a line", "Fix it"])
                self.do("bash", {"command": f"sed -i 's/{old}/{new}/' {name}", "description": words})
            else:
                self.do("edit_file", {"path": name, "old": old, "new": new}, "ok")
        self.bugs = max(0, self.bugs - 1)
        seconds = self.chance.random()
        if self.bugs:
            self.do("bash", {"command": "pytest -q"}, error=f"{'test_x ' * self.bugs}failed in {seconds:.2f}s")
        else:
            self.do("bash", {"command": "pytest -q"}, f"50 passed in {seconds:.2f}s")
        self.do("bash", {"command": "ruff check ."}, "All checks passed!")

    def poll(self) -> None:
        job, done = self.chance.randrange(10**9), 0
        while done < 100:
            done = min(100, done + self.chance.randrange(5, 40))
            self.do("bash", {"command": "sleep 20"})
            self.do("job_status", {"id": job}, f"{done}%")

    def retry(self) -> None:
        url, seconds = self.chance.randrange(10**9), 1
        for _ in range(self.chance.randrange(4)):
            self.do("fetch", {"url": url}, error=self.chance.choice(["timed out", "connection reset", "unavailable"]))
            self.do("sleep", {"seconds": seconds})
            seconds *= 2
        self.do("fetch", {"url": url}, f"page {url}")

    def commit(self) -> None:
        if self.version and self.fresh("commit", self.version):
            self.do("bash", {"command": "git add -A"})
            self.do("bash", {"command": f"git commit -m 'v{self.version}'"}, f"[main {self.version}]")

    def type(self) -> None:
        for _ in range(self.chance.randrange(1, 5)):
            self.do("type_text", {"text": f"line {self.chance.randrange(10**9)}"})
            self.do("press_key", {"key": "Enter"})

    def search(self) -> None:
        for _ in range(self.chance.randrange(1, 5)):
            command = {"command": f"grep -rn sym{self.chance.randrange(10**9)} ."}
            if self.chance.random() < 0.6:
                self.do("bash", command, error="exit code 1")
            else:
                self.do("bash", command, "a.py:1: found")
        self.do("bash", {"command": f"ls d{self.chance.randrange(10**9)}"}, "a b")


def test_no_alarm_for_agents_that_get_on() -> None:
    for seed in range(150):
        worker = Worker(seed)
        worker.work(30)
        assert worker.alarms == [], seed


class GuardedWorker(Worker):
    """The same agent behind a guard: each call is asked for first, and turns of the model lie in between."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.guard = Guard(10_000_000)
        self.guard.offer(["read_file", "edit_file", "bash"])

    def do(self, tool: str, args: dict[str, Any], result: str = "", error: str = "") -> None:
        call = self.guard.before_call("m", self.guard.context_tokens + 200, 2_000)
        assert call
        self.guard.after_call(TokenUse(input=self.guard.context_tokens + 150, output=100))
        verdict = self.guard.before_tool(tool, args)
        assert verdict, (tool, args, verdict.reason)
        outcome: dict[str, Any] = {"error": error} if error else {"result": result}
        heard = [*call.nudges, *self.guard.after_tool(tool, args, **outcome)]
        assert [nudge.text for nudge in heard if "repeating" in nudge.text or "Doom loop" in nudge.text] == []


def test_a_guard_denies_nothing_to_agents_that_get_on() -> None:
    for seed in range(25):
        GuardedWorker(seed).work(30)


STUCK: list[tuple[str, dict[str, Any], str, str]] = [
    ("bash", {"command": "pytest -q", "description": "words {n}"}, "3 failed in 0.{n}s", ""),
    ("bash", {"command": "git status"}, "clean", ""),
    ("read_file", {"path": "a.py"}, "text", ""),
    ("edit_file", {"path": "a.py", "old": "x", "new": "y"}, "", "old text not found"),
    ("edit_file", {"path": "a", "old": "1", "new": "2"}, "ok", ""),
    ("edit_file", {"path": "a", "old": "2", "new": "1"}, "ok", ""),
    ("bash", {"command": "sed -i s/a/b/ x"}, "", ""),
    ("bash", {"command": "make"}, "", "request {n} at 0x7f{n} failed"),
    ("job_status", {"id": 4, "request_id": "{n}"}, "queued", ""),
    ("fetch", {"url": "u"}, "", "no answer after {n} ms"),
    ("grep", {"q": "foo", "explanation": "because {n}"}, "no match", ""),
]


def test_agents_that_are_stuck_are_found_in_three_rounds() -> None:
    for seed in range(150):
        chance, detector = random.Random(seed), LoopDetector()
        circle = chance.sample(STUCK, chance.randrange(1, 9))
        found = False
        for _ in range(3):
            for tool, args, result, error in circle:
                n = chance.randrange(1_000, 9_999)
                said = {key: value.format(n=n) if isinstance(value, str) else value for key, value in args.items()}
                outcome: dict[str, Any] = {"error": error.format(n=n)} if error else {"result": result.format(n=n)}
                found |= detector.record(tool, said, **outcome).is_loop
                for _ in range(chance.randrange(3)):
                    number = chance.randrange(10**9)
                    detector.record(
                        *chance.choice([("grep", {"q": number}), ("read_file", {"path": f"{number}"})]), result="x"
                    )
        assert found, (seed, circle)
