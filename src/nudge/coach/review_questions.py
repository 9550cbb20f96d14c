"""The weekly review's nine questions in four blocks."""

from __future__ import annotations

from dataclasses import dataclass

LOOKING_BACK = "Looking back"
GOALS = "The week's goals"
CHANGE = "What to change"
AHEAD = "Looking ahead"
BLOCKS = (LOOKING_BACK, GOALS, CHANGE, AHEAD)
COUNT = 9


@dataclass(frozen=True, slots=True)
class Question:
    """`label` names the answer in the summary."""

    block: str
    text: str
    label: str


_WITHOUT_GOAL = (
    ("What did you get done that was never on a list?", "done"),
    ("What is still open from this week and still matters?", "open"),
    ("What took more time than it was worth?", "not worth it"),
)


def questions(goals: tuple[str, ...]) -> tuple[Question, ...]:
    """The nine questions. The week's goals are asked about one by one; where there are fewer than three, other
    questions about the week's work take their place.

    >>> questions(("Finish the draft",))[2].text
    'Goal 1, “Finish the draft”: where did it end up, and what moved it or held it up?'
    """
    asked = [
        Question(LOOKING_BACK, "What went well this week, and what made it work?", "well"),
        Question(LOOKING_BACK, "What didn't go the way you wanted, and what got in the way?", "not"),
    ]
    for number, (text, label) in enumerate(_WITHOUT_GOAL):
        if number < len(goals):
            goal = goals[number]
            text = f"Goal {number + 1}, “{goal}”: where did it end up, and what moved it or held it up?"
            label = f"“{goal}”"
        asked.append(Question(GOALS, text, label))
    return (
        *asked,
        Question(
            CHANGE, "How were your nights and mornings? When did you really go to bed, and what decided that?", "sleep"
        ),
        Question(
            CHANGE,
            "What is one small thing you'd like to try differently next week? An experiment, not a rule.",
            "experiment",
        ),
        Question(AHEAD, "Who did you mean to write to or see, and didn't? Who comes first next week?", "people"),
        Question(AHEAD, "What are your three for next week? One a line, each with an end you can see.", "next"),
    )
