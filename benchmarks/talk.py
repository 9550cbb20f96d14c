"""A talk: how soon the rules answer, how soon the first word of a model's answer is on the terminal, and what a day of
messages reads from the prompt cache. The model is a fake over HTTP that begins to answer after 100 ms."""

from __future__ import annotations

import asyncio
import io
import statistics
import tempfile
from time import perf_counter

from nudge.channels.terminal_prompt import Prompt
from nudge.clock import SystemClock
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.home.prices import load_prices
from nudge.models import open_model
from nudge.queue.channel import Inbound
from nudge.stores.open import open_store
from nudge.testing import FakeAnthropic, RecordingChannel
from nudge.testing.life import COACH, Texts, templates

MESSAGES = 20
ANSWER = "Fine, then the draft first. What is the smallest piece of it that you could do now?"


class Terminal(io.StringIO):
    """A terminal that notes when something is shown on it."""

    def __init__(self) -> None:
        super().__init__()
        self.shown_at: float | None = None

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.shown_at is None and "Fine" in text:
            self.shown_at = perf_counter()
        return super().write(text)


async def first_words(anthropic: FakeAnthropic) -> list[float]:
    """Seconds from a typed line to the first word of its answer, message by message."""
    settings = {"ANTHROPIC_API_KEY": anthropic.api_key, "ANTHROPIC_BASE_URL": anthropic.url}
    clock, store = SystemClock(), await open_store("sqlite://:memory:")
    model = open_model("anthropic", settings, clock=clock)
    channel = RecordingChannel()
    ports = Ports(store, clock, channel, Texts(templates("UTC")), load_prices(), model=model)
    daemon = Daemon(ports, Options(owner="benchmark"))
    screen = Terminal()
    prompt = Prompt(Terminal(), screen)
    prompt._reading = True  # as while somebody could type
    daemon.coach.drafts.watch(lambda agent, text: prompt.preview(text))
    await daemon.start()
    running = asyncio.create_task(daemon.run())
    took = []
    for number in range(MESSAGES):
        screen.shown_at = None
        before, answers = perf_counter(), len(channel.texts)
        await daemon.coach.listener.hear(COACH, Inbound(clock.now(), f"Message {number}: what about the draft?"))
        while len(channel.texts) == answers:
            await asyncio.sleep(0.005)
        assert screen.shown_at is not None
        took.append(screen.shown_at - before)
    daemon.stop()
    await running
    await model.close()
    await store.close()
    return took


SAID = ("what's next?", "remind me to stretch tomorrow at 9am", "add write to today", "how are you?", "undo")


async def offline_answers() -> list[float]:
    """Seconds from a typed line to its whole answer by the rules, over a database on disk."""
    with tempfile.TemporaryDirectory() as folder:
        clock, store = SystemClock(), await open_store(f"sqlite:///{folder}/nudge.db")
        channel = RecordingChannel()
        ports = Ports(store, clock, channel, Texts(templates("UTC")), load_prices())
        daemon = Daemon(ports, Options(owner="benchmark"))
        await daemon.start()
        running = asyncio.create_task(daemon.run())
        took = []
        for number in range(MESSAGES):
            before, answers = perf_counter(), len(channel.texts)
            await daemon.coach.listener.hear(COACH, Inbound(clock.now(), SAID[number % len(SAID)]))
            while len(channel.texts) == answers:
                await asyncio.sleep(0.001)
            took.append(perf_counter() - before)
        daemon.stop()
        await running
        await store.close()
    return took


def rows() -> list[tuple[str, str, str]]:
    offline = asyncio.run(offline_answers())[1:]  # the first one reads its tables of words
    with FakeAnthropic(first_word_after=0.1) as anthropic:
        anthropic.reply(ANSWER, times=MESSAGES)
        took = asyncio.run(first_words(anthropic))[1:]  # the first one opens the connection
        used = [one["usage"] for one in anthropic.served][1:]
    read = sum(one["cache_read_input_tokens"] for one in used)
    every = read + sum(one["input_tokens"] + one["cache_creation_input_tokens"] for one in used)
    worst = sorted(took)[-2]
    return [
        ("answer without a model, median", f"{statistics.median(offline) * 1000:.0f} ms", "< 50 ms"),
        ("answer without a model, second slowest", f"{sorted(offline)[-2] * 1000:.0f} ms", "< 50 ms"),
        ("first word on the terminal, median", f"{statistics.median(took) * 1000:.0f} ms", "< 200 ms"),
        ("first word on the terminal, second slowest", f"{worst * 1000:.0f} ms", "< 200 ms"),
        ("input tokens read from the prompt cache", f"{100 * read / every:.0f} %", "≥ 80 %"),
    ]
