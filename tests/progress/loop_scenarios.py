"""What is a loop and what only looks like one: the table the loop detector is held to.

Each row names a situation in a sentence and lists what happens in it, one step after the other. `fires` is None where
nothing may ever be flagged; otherwise it is (earliest, latest): the first step at which the detector may speak and the
last step by which it must have spoken, both counted from 1. A step of parallel calls speaks if one of its calls does.

The rows come from two sides: loops that agents really fall into and that went unnoticed, and honest repetitive work
that was stopped by mistake. Rows that fire have no further steps than needed, rows that do not go on for long enough.
"""

from __future__ import annotations

from tests.progress.loop_scenarios_calls import CYCLES, PLAIN, STEPS, TUNED
from tests.progress.loop_scenarios_results import RESULTS
from tests.progress.loop_scenarios_shell import SHELL
from tests.progress.loop_scenarios_text import MESSAGES, OUTPUT
from tests.progress.loop_scenarios_trouble import ERRORS, VOLATILE
from tests.progress.loop_scenarios_waiting import WAITING
from tests.progress.loop_steps import Scenario

SCENARIOS: list[Scenario] = [
    *PLAIN,
    *RESULTS,
    *CYCLES,
    *ERRORS,
    *WAITING,
    *SHELL,
    *MESSAGES,
    *OUTPUT,
    *VOLATILE,
    *STEPS,
    *TUNED,
]
