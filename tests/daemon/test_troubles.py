"""What is wrong while the daemon runs is found, said once, and gone when it is fixed."""

from __future__ import annotations

import pytest

from nudge.daemon.findings import Finding, refuse_bad_start
from nudge.daemon.troubles import KeyCheck
from nudge.errors import ConfigError, ModelUnavailableError, NotConfiguredError
from nudge.instants import MINUTE
from nudge.queue.outcomes import FeedLine
from nudge.testing import VirtualClock, run_virtual
from tests.times import NOON

REFUSED = NotConfiguredError("The service does not accept the key.", next_step="Get another.")
UNREACHABLE = ModelUnavailableError("Nobody answers.")


class Service:
    """Answers in turn; None is a yes."""

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)
        self.lines: list[str] = []

    async def ask(self) -> None:
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer

    async def add(self, line: FeedLine) -> None:
        self.lines.append(line.text)


async def test_a_key_that_is_refused_is_said_once_and_asked_about_until_it_is_accepted() -> None:
    service = Service(REFUSED, REFUSED, UNREACHABLE, None)
    check = KeyCheck(service.ask, VirtualClock(NOON), service.add)
    assert not await check.look()
    assert check.problem is REFUSED
    assert not await check.look()
    assert not await check.look()
    assert check.problem is REFUSED  # nobody has said that it is good
    assert service.lines == ["The service does not accept the key. Until it does, the coach answers by its own rules."]
    assert await check.look()
    assert check.problem is None


def test_a_service_that_does_not_answer_is_asked_again_and_says_nothing_about_the_key() -> None:
    service = Service(UNREACHABLE, UNREACHABLE, None)

    async def main(clock: VirtualClock) -> KeyCheck:
        check = KeyCheck(service.ask, clock, service.add)
        await check.run()
        assert clock.now() - NOON == 30 * MINUTE
        return check

    check = run_virtual(main, NOON)
    assert (check.problem, service.lines, service.answers) == (None, [], [])


def test_a_start_is_refused_with_all_errors_and_goes_on_with_warnings() -> None:
    warning = Finding("prices", "warning", "They are old.", "Look.")
    refuse_bad_start([warning, Finding("python", "ok", "3.11")])
    with pytest.raises(ConfigError) as caught:
        refuse_bad_start(
            [Finding("a", "error", "A is wrong.", "Fix A."), warning, Finding("b", "error", "B is wrong.")]
        )
    assert caught.value.message == "A is wrong. Fix A.\nB is wrong."
    assert caught.value.next_step == "Fix these 2, then run 'nudge config check'."
