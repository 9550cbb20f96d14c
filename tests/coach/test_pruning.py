from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nudge.attention.preferences import contradict, forbids
from nudge.coach.documents import Document
from nudge.coach.pruning import prune

TODAY = date(2026, 2, 21)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        pytest.param("Don't message about sleep", "You can message about sleep after midnight", id="allowed since"),
        pytest.param("You can message about sleep", "Stop messaging about sleep.", id="forbidden since"),
        pytest.param("Never ask about work", "It’s ok to ask about work again", id="in other words"),
        pytest.param("Do not send jokes", "Feel free to send jokes", id="in still others"),
    ],
)
def test_contradictions(older: str, newer: str) -> None:
    assert contradict(older, newer)
    assert contradict(newer, older)
    text = f"## Preferences\n- {older}\n- Casual\n- {newer}\n"
    pruned = prune(text, TODAY)
    assert pruned.text == f"## Preferences\n- Casual\n- {newer}\n"
    assert pruned.removed == (f"{older} (changed since)",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Don't message about sleep", "You can message about work", id="another topic"),
        pytest.param("Don't message before noon", "You can message after six", id="two conditions"),
        pytest.param("You can message about sleep", "Don't message about sleep on weekends", id="an exception"),
        pytest.param("Don't message about sleep", "Don't message about sleep at all", id="the same stance"),
        pytest.param("Prefers casual tone", "You can be casual", id="no stance at all"),
        pytest.param("Don't", "You can", id="nothing that it is about"),
    ],
)
def test_what_may_both_be_true_stays(one: str, other: str) -> None:
    assert not contradict(one, other)
    text = f"## Preferences\n- {one}\n- {other}\n"
    assert prune(text, TODAY).text == text


def test_dates_decide_which_is_newer() -> None:
    text = "## Preferences\n- You can ask about work (2026-02-20)\n- Don't ask about work (2026-01-05)\n"
    assert prune(text, TODAY).text == "## Preferences\n- You can ask about work (2026-02-20)\n"


def test_of_three_turns_the_last_one_stays() -> None:
    text = "## Preferences\n- Don't ask about work\n- You can ask about work\n- Don’t ask about work.\n"
    assert prune(text, TODAY).text == "## Preferences\n- Don’t ask about work.\n"


def test_doubles_and_what_is_done_go() -> None:
    text = "## Observed Patterns\n- Late on Fridays\n- late on fridays.\n## Active Commitments\n- [x] Pay\n- Call\n"
    pruned = prune(text, TODAY)
    assert pruned.text == "## Observed Patterns\n- late on fridays.\n## Active Commitments\n- Call\n"
    assert pruned.removed == ("Late on Fridays (said again later)", "[x] Pay (done)")


def long_memory(patterns: int, preferences: int = 10) -> str:
    return (
        "# Memory\n\n## Preferences\n"
        + "".join(f"- Preference {n}\n" for n in range(preferences))
        + "\n## Active Commitments\n- Old (due: 2025-12-01)\n- New (due: 2026-02-10)\n\n## Observed Patterns\n"
        + "".join(f"- Pattern {n}\n" for n in range(patterns))
        + "\n\n\n## My notes\n- Mine\n"
    )


def test_a_file_below_the_limit_loses_nothing() -> None:
    text = long_memory(100)
    assert prune(text, TODAY).text == text


def test_a_long_file_loses_what_is_oldest_until_it_is_below_200_lines() -> None:
    pruned = prune(long_memory(400), TODAY)
    assert pruned.lines == len(pruned.text.splitlines()) < 200
    assert "- Old (due" not in pruned.text
    assert "- New (due" in pruned.text
    assert "- Pattern 399\n" in pruned.text
    assert "- Pattern 0\n" not in pruned.text
    assert "- Preference 0\n" in pruned.text
    assert "- Mine\n" in pruned.text
    assert pruned.lines >= 195


def test_preferences_are_the_last_to_go() -> None:
    pruned = prune(long_memory(20, preferences=300), TODAY)
    assert pruned.lines < 200
    assert "- Pattern" not in pruned.text
    assert "- Preference 299\n" in pruned.text


def test_what_the_person_added_is_left_alone_even_if_it_is_long() -> None:
    text = "## Mine\n" + "- a line\n" * 300
    assert prune(text, TODAY).text == text


def test_a_huge_file_is_pruned_without_long_thought() -> None:
    assert prune(long_memory(2_000), TODAY).lines < 200


def test_a_neighbour_does_not_become_a_heading() -> None:
    text = "## Observed Patterns\n- late\n\nwords\n- late\n- Late\n---\n"
    assert prune(text, TODAY).text == "## Observed Patterns\n\nwords\n- Late\n---\n"
    alone = "## Active Commitments\nwords\n- [x] Pay\n---\n"
    assert prune(alone, TODAY).text == "## Active Commitments\nwords\n\n---\n"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["## Preferences", "## Mine", "- a", "- b", "- Don't x", "- You can x", "", "```", "t"]))
)
def test_pruning_only_removes_lines_and_is_done_after_one_time(lines: list[str]) -> None:
    text = "\n".join(lines)
    pruned = prune(text, TODAY)
    assert Document.parse(pruned.text).outline == Document.parse(text).outline
    assert prune(pruned.text, TODAY).removed == ()
    left = iter(text.split("\n"))
    assert all(line in left for line in pruned.text.rstrip("\n").split("\n") if line)


@pytest.mark.parametrize(
    ("preferences", "about", "expected"),
    [
        pytest.param(["Don't message about sleep"], "sleep bedtime bed", True, id="the topic"),
        pytest.param(["Don't message about the gym"], "sleep bedtime bed", False, id="another topic"),
        pytest.param(["Stop asking about the draft"], "Finish the draft", True, id="a task that is about it"),
        pytest.param(["Don't message about sleep", "You can message about sleep"], "sleep", False, id="the last one"),
        pytest.param(["Don't message about sleep before noon"], "sleep", False, id="a condition forbids nothing"),
        pytest.param(["Don't message"], "sleep", False, id="no topic"),
        pytest.param(["Likes sleep"], "sleep", False, id="no stance"),
    ],
)
def test_what_the_person_does_not_want_to_hear(preferences: list[str], about: str, expected: bool) -> None:
    assert forbids(preferences, about) is expected
