"""Why a call may not be made now, in words for people: percentages, not dollars."""

from __future__ import annotations

from nudge.errors import BudgetExhaustedError
from nudge.instants import Instant, rfc3339, to_datetime
from nudge.spending.books import Books
from nudge.spending.holds import AccountKey, AccountKind, Answer, Decision
from nudge.spending.lifecycle import SpendingState

_TOP_UP = "Run 'nudge budget top-up AMOUNT' to go on at once."


class AsleepError(BudgetExhaustedError):
    """The agent sleeps until its budget is refreshed."""

    def __init__(self, agent: str, state: SpendingState, refresh_at: Instant) -> None:
        self.agent = agent
        self.state = state
        self.refresh_at = refresh_at
        what = {
            SpendingState.WINDING_DOWN: "is winding down: it finishes what it has begun and starts nothing new",
            SpendingState.BUDGET_EXCEEDED: "was stopped: its daily budget is exceeded",
        }.get(state, "is asleep")
        super().__init__(
            f"{agent} {what} until its budget is refreshed at {rfc3339(refresh_at)}.",
            next_step=_TOP_UP,
            retry_at=to_datetime(refresh_at),
        )


def asleep(books: Books) -> AsleepError:
    return AsleepError(books.agent, books.row.state, books.refresh_at)


def does_not_fit(books: Books, decision: Decision, short: tuple[AccountKey, ...]) -> BudgetExhaustedError:
    own = [key for key in short if key.kind in (AccountKind.RUN, AccountKind.POOL)]
    where = f"the budget of {own[-1].name}" if own else f"today's budget of {books.agent} ({books.today.meter.text})"
    if decision.answer is Answer.REFUSED:
        otherwise = "or end the run here" if own else "wait for the refresh, or run 'nudge budget top-up AMOUNT'"
        return BudgetExhaustedError(
            f"What is left of {where} does not pay for this call.",
            next_step=f"Ask something shorter, {otherwise}.",
        )
    return BudgetExhaustedError(
        f"Calls under way hold what is left of {where}, and none of them ended in time.",
        next_step="Try again when they have ended" + ("." if own else ", or run 'nudge budget top-up AMOUNT'."),
    )
