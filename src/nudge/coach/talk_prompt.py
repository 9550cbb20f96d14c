"""What a model is given in a conversation: who it is, what it knows of the person, the talk so far, what is true now.

It is laid out for the prompt cache, which holds a prefix: first what never changes (the tools, the personality, the
rules), then what changes with a document, then the talk, which only grows at its end, and last what is new every time.
So the second message within the cache's five minutes pays for what is new only.

Times stand beside what was said. Those of the coach's own unasked messages stand in a note before them: a model
imitates what its own turns look like.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from nudge.coach.documents import DocumentTexts, filled_in, one_line, readable, without_comments
from nudge.coach.facts import PRESSED, CoachFacts, Turn
from nudge.coach.memory import CONTEXT
from nudge.coach.prompts import CONVERSATION_CAP, EMPTY, RULE, clip, clock, estimate, fence, remembered, wishes
from nudge.coach.targets import Targets
from nudge.instants import Instant, to_datetime
from nudge.model import Text, assistant, cached, user
from nudge.model import Turn as ModelTurn
from nudge.text import split_quotes

TURNS_BUDGET = 2_000
EVERY = 8
"""A talk that is too long is cut at every eighth row, so that its beginning moves rarely."""

REPLY_RULE = """Lines in square brackets at the start of a message are notes about it, such as the time; they are not
the person's words, and you never write such notes yourself.
Your text is sent to the person as it is: one to three short sentences, one question at most.
Use the tools to look something up or to get something done; call several at once where you can, and answer when you
have the results. Change something only when the person asks for it or clearly wants it. What you changed is shown to
them line by line under your answer, so don't list it; what a tool refused is not done, so don't say that it was.
Pass times on in the person's own words and never make one up: if the time is missing, ask.
"Don't message me about X" goes to Preferences as "Don't message about X". What they tell you about themselves and you
should still know next month goes to memory. set_recent_context keeps what the last talks were about; use it when a
talk brought something that matters tomorrow."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What a model is given. `dropped` counts the older turns that did not fit."""

    rules: str
    documents: str
    history: tuple[tuple[str, str], ...]
    now: str
    message: str
    dropped: int

    @property
    def tokens(self) -> int:
        said = sum(estimate(text) for _, text in self.history)
        return estimate(self.rules) + estimate(self.documents) + said + estimate(self.now) + estimate(self.message)

    @property
    def system(self) -> tuple[Text, ...]:
        return (cached(self.rules), cached(self.documents))

    @property
    def turns(self) -> tuple[ModelTurn, ...]:
        """The talk. A mark of the cache stands behind the last turn before this message."""
        last = len(self.history) - 1
        turns = []
        for place, (role, text) in enumerate(self.history):
            said = cached(text) if place == last else Text(text)
            turns.append(user(said) if role == "user" else assistant(said))
        return (*turns, user(self.now, self.message))


def talk_prompt(documents: DocumentTexts, facts: CoachFacts, cap: int = CONVERSATION_CAP) -> Talk:
    """The talk about this message, within the cap: the oldest turns go first, then the middle of the longest text."""
    message = Turn("user", facts.text, facts.now, facts.forwarded)
    texts = {
        "memory": remembered(documents.memory, CONTEXT),
        "goals": filled_in(documents.goals) or EMPTY,
        "agents": without_comments(documents.agents),
        "wishes": wishes(documents.memory),
        "now": "\n".join(_now(facts)),
        "message": readable(message.text),
    }
    every = facts.read
    kept = _within_budget(every, facts.targets)
    built = _talk(texts, kept, facts, len(every) - len(kept))
    while kept and built.tokens > cap:
        kept = kept[1:]
        built = _talk(texts, kept, facts, len(every) - len(kept))
    for name in texts:
        if built.tokens > cap:
            texts[name] = clip(texts[name], max(200, estimate(texts[name]) - (built.tokens - cap) - 8))
            built = _talk(texts, kept, facts, len(every) - len(kept))
    return built


def _within_budget(turns: tuple[Turn, ...], targets: Targets) -> tuple[Turn, ...]:
    """The newest turns that fit. Where some do not, the cut is made at a row whose number stays for a while, unless
    that would lose more than half of what fits."""
    sizes = [estimate("".join(text for _, text in _said(turn, targets))) for turn in reversed(turns)]
    fits = sum(size <= TURNS_BUDGET for size in accumulate(sizes))
    kept = turns[len(turns) - fits :]
    if fits == len(turns):
        return kept
    steady = next((place for place, turn in enumerate(kept) if turn.number and turn.number % EVERY == 0), 0)
    return kept[steady:] if sum(sizes[: fits - steady]) >= TURNS_BUDGET // 2 else kept


def _talk(texts: dict[str, str], kept: tuple[Turn, ...], facts: CoachFacts, dropped: int) -> Talk:
    rules = "\n\n".join(part for part in (texts["agents"], RULE, REPLY_RULE) if part)
    known = (
        texts["wishes"],
        f"--- GOALS.md ---\n{fence(texts['goals'])}",
        f"--- MEMORY.md ---\n{fence(texts['memory'])}",
    )
    history = tuple(line for turn in kept for line in _said(turn, facts.targets))
    message = Turn("user", texts["message"], facts.now, facts.forwarded)
    ((_, words),) = _said(message, facts.targets)
    return Talk(rules, "\n\n".join(part for part in known if part), history, texts["now"], words, dropped)


def _now(facts: CoachFacts) -> list[str]:
    """What is true at this moment and may be otherwise at the next message."""
    around, targets = facts.surroundings, facts.targets
    now = f"[It is {to_datetime(facts.now, targets.zone):%A} {clock(facts.now, targets)} ({targets.timezone})."
    lines = [f"{now} They asked for: {'; '.join(around.restraint) or 'no quiet'}."]
    if around.review:
        lines.append(f"The weekly review is open at {around.review}")
    if facts.due_reminders:
        open_ones = "\n".join(
            f"- {one_line(readable(one.text))} (due {clock(one.due_at, targets)})" for one in facts.due_reminders
        )
        lines.append(f"Reminders that are due or have no answer yet:\n{fence(open_ones)}")
    ahead = "\n".join(f"- {one_line(readable(line))}" for line in around.reminders)
    lines.append(f"Their reminders:\n{fence(ahead)}" if ahead else "They have no reminders set.")
    if facts.memory.recent_context:
        lines.append(f"What the talks of the last days were about:\n{fence(facts.memory.recent_context)}")
    lines.append("Their message follows.]")
    return lines


def _said(turn: Turn, targets: Targets) -> tuple[tuple[str, str], ...]:
    """A turn as a model reads it: who said it, with its time. The time is that of the wall clock, so that the same
    turn reads the same at the next message."""
    text, at = readable(turn.text), _at(turn.at, targets)
    if turn.role != "user":
        note = (
            (("user", f"[{at}: they had not written; you sent this {one_line(turn.kind)}:]"),) if turn.unasked else ()
        )
        return (*note, ("assistant", text))
    if turn.kind == PRESSED:
        verb, _, what = text.partition(": ")
        return (("user", f"[{at}: they pressed {one_line(verb)} under this message:]\n{fence(what)}"),)
    return (("user", f"[{at}]\n{_forwarded(text) if turn.forwarded else _with_quotes(text)}"),)


def _at(at: Instant, targets: Targets) -> str:
    return f"{to_datetime(at, targets.zone):%a %Y-%m-%d %H:%M}"


def _with_quotes(text: str) -> str:
    """The message with each quotation in a fence of its own."""
    pieces = split_quotes(text)
    if not any(quoted for quoted, _ in pieces):
        return text
    return "\n".join(f"The person quotes this:\n{fence(piece)}" if quoted else piece for quoted, piece in pieces)


def _forwarded(text: str) -> str:
    return f"The person passed this on; somebody else wrote it:\n{fence(text)}"
