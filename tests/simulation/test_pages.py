"""The timeline as text and as a page, from hand-made events."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from nudge.columns import cut
from nudge.instants import HOUR, Instant
from nudge.queue.outcomes import Result
from nudge.simulation.chart import safe, tag
from nudge.simulation.html import page
from nudge.simulation.text import dollars, summary_lines, timeline_lines
from nudge.simulation.timeline import Asked, Noted, Said, Sample, Signal, Timeline, clock_changes, in_order
from nudge.spending.lifecycle import PAUSED
from tests.simulation.test_timeline import WEEK, at, ended, sent

EVENTS = (
    ended(at(16, 3)),
    ended(at(16, 3, 45)),
    sent(
        at(16, 10),
        kind="briefing",
        subject="briefing:morning",
        text="Good morning.\nFirst: <b>write</b>",
        level=4_000_000,
    ),
    Said(at(16, 10, 5), "30 more min & then?"),
    sent(at(16, 10, 5), kind="reply", text="Okay.", reply=True),
    ended(at(16, 12), Result.DEFERRED, "You said you were busy.", until=at(16, 14), final=False, rule="busy"),
    Signal(at(16, 12, 1)),
    Asked(at(16, 13), "heartbeat", "claude-haiku-5-5", 2_000, 100, 2_500),
    Noted(at(16, 20), "asleep", PAUSED),
    sent(at(17, 11), kind="reminder", subject="water", text="Drink \x00\x0b\ud800\U0001f4a7 " + "x" * 200, exact=True),
)
SAMPLES = tuple(
    Sample(Instant(WEEK.start + n * HOUR), 3_000_000 + n * 10_000, 5, 40 * (n % 24), 1_000, n % 24 > 20)
    for n in range(168)
)
LIFE = Timeline(replace(WEEK, model="scripted"), in_order(EVENTS), SAMPLES, ("One condition was taken as met.",))


def test_the_timeline_reads_as_a_diary() -> None:
    lines = list(timeline_lines(LIFE))
    text = "\n".join(lines)
    assert "owl (seed 3): 7 days, Mon 16 Feb to Sun 22 Feb 2026, America/Toronto." in " ".join(lines[:2])
    assert "  03:00–03:45 suppressed ×2   heartbeat: quiet" in lines
    assert re.search(r"^  10:00       sent            briefing:morning: Good morning. First: .* pings 4.0$", text, re.M)
    assert "  10:05       said            “30 more min & then?”" in lines
    assert "  10:05       reply           Okay." in lines
    assert "  12:00       deferred        heartbeat: until 14:00. You said you were busy." in lines
    assert f"  20:00       asleep          {PAUSED}" in lines
    assert any(
        "1 message · 1 reply · pings 3.0–4.0 · 1 phone signal · 1 call, 2,100 tokens, ≈ $0.0025" in n for n in lines
    )
    assert max(len(line) for line in lines) <= 100
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("offline", "nothing: rules answer. A model would cost ≈ $0.01 a month (estimate from prompt sizes)."),
        ("scripted", "≈ $0.0025; ≈ $0.01 a month (estimate from prompt sizes)"),
        ("real", "$0.0025 charged; $0.01 a month at this rate"),
    ],
)
def test_a_cost_that_is_an_estimate_says_so(model: str, says: str) -> None:
    text = " ".join(" ".join(summary_lines(replace(LIFE, plan=replace(WEEK, model=model)))).split())
    assert says in text
    assert ("at most 92%" in text) is (model != "offline")


def test_the_summary_names_what_was_left_out_and_the_quiet_hours() -> None:
    text = "\n".join(summary_lines(LIFE))
    assert "note            One condition was taken as met." in text
    assert "quiet hours     0 violations (02:00–10:00)" in text
    assert "ping budget     lowest level 3.0 of 5" in text
    assert "asleep 1 time, 148.0 h" in text
    assert "ping budget     off" in "\n".join(summary_lines(replace(LIFE, samples=(), events=())))


@pytest.mark.parametrize(
    ("micros", "shown"), [(0, "$0.00"), (9_999, "$0.0100"), (10_000, "$0.01"), (8_400_000, "$8.40")]
)
def test_small_sums_are_not_shown_as_nothing(micros: int, shown: str) -> None:
    assert dollars(micros) == shown


def test_long_texts_are_cut_where_they_fit() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abc def", 5) == "abc…"


class _References(HTMLParser):
    """Collects whatever could make a browser fetch, run or open something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        if name in ("script", "link", "iframe", "img", "image", "object", "embed", "base", "form", "audio", "video"):
            self.found.append(name)
        for key, value in attributes:
            outside = key in ("href", "src", "xlink:href", "srcset", "action", "style") or key.startswith("on")
            if outside or "url(" in (value or ""):
                self.found.append(f"{name} {key}")

    def handle_data(self, data: str) -> None:
        if re.search(r"@import|url\(|https?:", data):
            self.found.append(data[:40])


@pytest.mark.parametrize(
    "life",
    [
        pytest.param(LIFE, id="a week with everything"),
        pytest.param(replace(LIFE, events=(), samples=()), id="a week in which nothing happened"),
        pytest.param(replace(LIFE, plan=replace(LIFE.plan, days=100)), id="many days"),
        pytest.param(replace(LIFE, plan=replace(LIFE.plan, quiet=(22 * 60, 7 * 60))), id="quiet across midnight"),
        pytest.param(replace(LIFE, plan=replace(LIFE.plan, quiet=None, model="offline")), id="no quiet hours"),
    ],
)
def test_the_page_is_well_formed_and_refers_to_nothing_outside_itself(life: Timeline) -> None:
    text = page(life)
    root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))
    assert root.tag == "html"
    assert len(root.findall(".//details")) == life.plan.days
    text.encode("utf-8")
    parser = _References()
    parser.feed(text)
    assert parser.found == []
    assert "://" not in text


def test_the_check_for_references_can_fail() -> None:
    parser = _References()
    parser.feed('<img src="x.png"/><p onclick="x()">y</p><style>@import "x";</style><a href="#a">b</a>')
    assert len(parser.found) >= 5


def test_the_chart_shows_messages_the_bucket_and_the_budget() -> None:
    root = ElementTree.fromstring(page(LIFE).removeprefix("<!DOCTYPE html>"))
    chart = next(svg for svg in root.iter("svg") if svg.get("aria-label") == "Messages by day and hour")
    dots = [one for one in chart.iter("circle") if (one.get("class") or "").startswith("dot")]
    assert [one.get("class") for one in dots] == ["dot briefing", "dot reminder"]
    assert len(list(chart.iter("polygon"))) == 7
    assert {one.get("class") for one in chart.iter("rect")} >= {"track", "quiet", "asleep"}
    titles = [one.text or "" for one in chart.iter("title")]
    assert any("Good morning. First: <b>write</b>" in title for title in titles)


def test_a_clock_change_is_shown() -> None:
    plan = replace(WEEK, first=WEEK.first.replace(month=11, day=1))
    text = page(Timeline(plan, in_order(clock_changes(plan)), ()))
    assert "clock −1 h" in text
    assert "The clock goes back 1 h, to 01:00." in text


def test_markup_is_escaped() -> None:
    assert safe('<a b="c">&\x00\x1b') == "&lt;a b=&quot;c&quot;&gt;&amp;"
    assert tag("text", safe("<"), x=1.25, style="a") == '<text x="1.2" class="a">&lt;</text>'
