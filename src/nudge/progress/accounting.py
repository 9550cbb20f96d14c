"""Counting tokens so that each one counts once.

Every model call sends the whole conversation again. Whoever adds up prompts therefore counts an early token once per
call, and the sum grows with the square of the run: a run dies long before it has done a budget's worth of work. Here a
call adds only what is new in it,

    max(0, prompt - context already counted) + output,

where `prompt` is everything the model read, from the prompt cache or not. `total_tokens`, the plain sum, is kept
for what it is good for: the bill.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from nudge.errors import UsageError
from nudge.numbers import is_whole
from nudge.tokens import TokenUse


@dataclass(frozen=True, slots=True)
class TokenAccount:
    """The tokens of one run.

    `context` is the size of the conversation that is counted already. It grows with each call and only `compacted`
    lowers it: a small call beside the conversation (a title, a classification) must not make the next big one count
    anew. The price is that a conversation which shrinks without a word to `compacted` counts too little for a while.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    counted: int = 0
    context: int = 0
    start: int = 0
    opening: int = 0
    baseline: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not is_whole(value) or value < 0:
                raise UsageError(f"{value!r} is not a number of tokens or calls ({field.name}).")

    @property
    def total_tokens(self) -> int:
        """All prompts and outputs added up, as the bill does. Never used to stop a run."""
        return self.input + self.cache_read + self.cache_write + self.output

    @property
    def incremental_tokens(self) -> int:
        """The tokens this run is charged with: each once, less the baseline.

        The baseline frees at most the first call, whatever number it was set to: the conversation's opening is not the
        run's work, what comes later is.
        """
        free = self.baseline - self.start
        if free <= 0:
            return self.counted
        return self.counted - (free if free < self.opening else self.opening)

    def after_call(self, use: TokenUse, kept_output: int | None = None) -> TokenAccount:
        """The account with one more call. `kept_output` says how much of the output stays in the conversation, where
        that is less than all of it (thinking that is not sent back)."""
        kept = use.output if kept_output is None else kept_output
        if not is_whole(kept) or not 0 <= kept <= use.output:
            raise UsageError(f"A call with {use.output} tokens of output cannot keep {kept!r} of them.")
        new = max(0, use.prompt - self.context) + use.output
        first = self.calls == 0
        return replace(
            self,
            calls=self.calls + 1,
            input=self.input + use.input,
            output=self.output + use.output,
            cache_read=self.cache_read + use.cache_read,
            cache_write=self.cache_write + use.cache_write + use.cache_write_1h,
            counted=self.counted + new,
            context=max(self.context, use.prompt + kept),
            start=self.context if first else self.start,
            opening=new if first else self.opening,
        )

    def with_baseline(self, tokens: int) -> TokenAccount:
        """The account with the first `tokens` tokens of the conversation free; a later call refines an earlier one."""
        return replace(self, baseline=tokens)

    def compacted(self, tokens_after: int) -> TokenAccount:
        """The account after the conversation was cut down to `tokens_after`: nothing is counted or uncounted by it."""
        return replace(self, context=tokens_after)

    def next_run(self) -> TokenAccount:
        """A fresh account for the next run on the same conversation, whose context is counted already."""
        return TokenAccount(context=self.context)
