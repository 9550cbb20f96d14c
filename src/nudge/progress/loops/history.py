"""The calls the loop detector remembers: a bounded number of them, each as a few digests."""

from __future__ import annotations

from typing import Any

from nudge.progress.loops.outcomes import FAILED, UNSAID, Standing

Step = int | str
"""What calls of one turn of the model have in common: the number or the id of that turn."""


class Call:
    """One remembered call. `outcome` is None while nobody has told its result; `epoch` counts the changes before it;
    `wait` is how long it only let time pass, below 0 if it did something; `standing` is how bad its failure is."""

    __slots__ = ("epoch", "outcome", "serial", "sig", "standing", "step", "tool", "trouble", "wait")

    def __init__(
        self,
        serial: int,
        sig: str,
        tool: str,
        outcome: str | None,
        step: Step | None,
        epoch: int,
        trouble: bool = False,
        wait: float = -1.0,
        standing: Standing = UNSAID,
    ) -> None:
        self.serial = serial
        self.sig = sig
        self.tool = tool
        self.outcome = outcome
        self.step = step
        self.epoch = epoch
        self.trouble = trouble
        self.wait = wait
        self.standing = standing

    @property
    def failed(self) -> bool:
        return self.outcome is not None and self.outcome[0] == FAILED

    def improves_on(self, earlier: Call) -> bool:
        """Whether this failure, with the same words as an earlier one, is a better one by its numbers."""
        return self.standing.beats(earlier.standing, after_change=self.epoch != earlier.epoch)


class CallHistory:
    """The last `span` calls, in order and by signature.

    `floor` is the serial of the last call that made progress: nothing before it is evidence of a loop. `longer` says
    whether the last wait was longer than the one before it.
    """

    __slots__ = ("_by_sig", "_calls", "epoch", "floor", "last_wait", "longer", "next_serial", "span")

    def __init__(self, span: int) -> None:
        self.span = span
        self.next_serial = 0
        self.floor = 0
        self.epoch = 0
        self.longer = False
        self.last_wait = 0.0
        self._calls: list[Call] = []
        self._by_sig: dict[str, list[Call]] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def clear(self) -> None:
        self._calls.clear()
        self._by_sig.clear()
        self.longer = False
        self.last_wait = 0.0

    def same(self, sig: str) -> list[Call]:
        """The remembered calls with this signature, the oldest first."""
        return self._by_sig.get(sig, _NONE)

    def before(self, call: Call, window: int) -> list[Call]:
        """The calls before this one in a window that ends with it, the newest first."""
        calls = self._calls
        if not calls:
            return []
        end = call.serial - calls[0].serial
        return calls[max(end - window + 1, 0) : end][::-1]

    def between(self, after: int, before: int) -> set[str]:
        """The signatures of what was called between two serials, both excluded."""
        return {call.sig for call in self._within(after, before)}

    def longest_wait(self, after: int, before: int) -> float:
        """The longest wait between two serials; 0 if there was none."""
        longest = 0.0
        for call in self._within(after, before):
            if call.wait > longest:
                longest = call.wait
        return longest

    def only_waits(self, after: int, before: int) -> bool:
        """Whether nothing was done between two serials but waiting."""
        return before - after == 1 or all(call.wait >= 0 for call in self._within(after, before))

    def something_new(self, after: int, before: int) -> bool:
        """Whether something was done between two serials that was not done before, and worked."""
        for call in self._within(after, before):
            if call.wait < 0 and self._by_sig[call.sig][0] is call and not call.failed:
                return True
        return False

    def _within(self, after: int, before: int) -> list[Call]:
        """The remembered calls between two serials of remembered calls, the later one perhaps of the next call."""
        calls = self._calls
        begin = after + 1 - calls[0].serial
        return calls[begin : begin + before - after - 1]

    def candidate(self, sig: str, tool: str, outcome: str | None, step: Step | None, wait: float = -1.0) -> Call:
        """A call as it would be remembered now."""
        return Call(self.next_serial, sig, tool, outcome, step, self.epoch, False, wait)

    def add(self, call: Call) -> None:
        self.next_serial += 1
        self._calls.append(call)
        if call.wait > 0:
            self.longer = call.wait > self.last_wait > 0
            self.last_wait = call.wait
        known = self._by_sig.get(call.sig)
        if known is None:
            self._by_sig[call.sig] = [call]
        else:
            known.append(call)
        if len(self._calls) > self.span:
            oldest = self._calls.pop(0)
            siblings = self._by_sig[oldest.sig]
            if len(siblings) == 1:
                del self._by_sig[oldest.sig]
            else:
                del siblings[0]

    def to_json(self) -> dict[str, Any]:
        return {
            "next": self.next_serial,
            "floor": self.floor,
            "epoch": self.epoch,
            "waited": [self.longer, self.last_wait],
            "calls": [[c.sig, c.tool, c.outcome, c.step, c.epoch, c.trouble, c.wait, *c.standing] for c in self._calls],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], span: int) -> CallHistory:
        history = cls(span)
        rows = data["calls"]
        history.next_serial = int(data["next"]) - len(rows)
        for sig, tool, outcome, step, epoch, trouble, wait, wrong, line in rows:
            if outcome == "" or not (isinstance(outcome, str | None) and isinstance(step, int | str | None)):
                raise ValueError("a call in it has neither an outcome nor a step")
            if not (isinstance(wrong, int | None) and isinstance(line, int | None)):
                raise ValueError("a call in it counts in words")
            call = Call(history.next_serial, str(sig), str(tool), outcome, step, int(epoch), trouble, float(wait))
            call.standing = Standing(wrong, line)
            history.add(call)
        history.floor = int(data["floor"])
        history.epoch = int(data["epoch"])
        history.longer, history.last_wait = bool(data["waited"][0]), float(data["waited"][1])
        return history


_NONE: list[Call] = []
