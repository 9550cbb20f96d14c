"""The configuration as one typed object: every field, its default, and the kind of value that it takes.

`read_config` makes it from nudge.toml, `.env` and the environment, for every command and for the daemon. Every field
has a default, so an empty nudge.toml is a valid one. A field that is added here is read, checked, shown and documented
by its name everywhere.

Named tuples, because `nudge reminder list` would spend a tenth of its time on making dataclasses. Annotations are
evaluated here, unlike elsewhere: the kind of a field stands in them.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from nudge.defaults import (
    DAY_STARTS,
    GATEWAY_HOST,
    GATEWAY_PORT,
    HEARTBEAT,
    LONGEST_SILENCE,
    MOST_PING_CAPACITY,
    MOST_PING_REFILL_MINUTES,
    PING_CAPACITY,
    PING_REFILL_MINUTES,
    RUN_COST,
    RUN_SECONDS,
    RUN_TOKENS,
    SPENDING_TIER,
    SPENDING_WINDOW,
)
from nudge.home.config_values import (
    ADDRESS,
    BOT_TOKEN,
    DAY,
    DAY_START,
    DURATION,
    FLAG,
    KEY,
    MODEL_OF_PURPOSE,
    MONEY,
    SWITCH,
    TEXT,
    TIERS,
    UPSTREAMS,
    USER_IDS,
    WEIGHTS,
    WINDOWS,
    ZONE,
    Kind,
    one_of,
    whole,
)
from nudge.home.folder import Home

if TYPE_CHECKING:
    from nudge.progress.run_limits import RunLimits
    from nudge.spending.allowance import DayTurn
    from nudge.spending.budgets import SpendingPlan
    from nudge.spending.routing import Routes
    from nudge.worker.loop import RunOptions

ENVIRONMENT: Mapping[str, Kind] = {
    "ANTHROPIC_API_KEY": KEY,
    "OPENAI_API_KEY": KEY,
    "GEMINI_API_KEY": KEY,
    "TELEGRAM_BOT_TOKEN": BOT_TOKEN,
    "NUDGE_SMTP_URL": TEXT,
    "NUDGE_DATABASE_URL": TEXT,
    "NUDGE_HEALTHCHECK_URL": ADDRESS,
    "ANTHROPIC_BASE_URL": ADDRESS,
    "OPENAI_BASE_URL": ADDRESS,
    "GOOGLE_GEMINI_BASE_URL": ADDRESS,
    "TELEGRAM_API_BASE": ADDRESS,
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": KEY,
    "AWS_SESSION_TOKEN": KEY,
    "AWS_ENDPOINT_URL": ADDRESS,
    "AWS_REGION": TEXT,
    "OTEL_EXPORTER_OTLP_ENDPOINT": ADDRESS,
    "OTEL_EXPORTER_OTLP_HEADERS": KEY,
}
"""What is read from `.env` and the environment. The stores and the mailer check their own URLs."""

SECRET_NAMES = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "TELEGRAM_BOT_TOKEN",
    "NUDGE_SMTP_URL",
    "NUDGE_DATABASE_URL",
    "NUDGE_HEALTHCHECK_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "OTEL_EXPORTER_OTLP_HEADERS",
)

_SHORTEST_KEY = 8  # characters; shorter parts of an address are words, such as "ping"
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class LogSection(NamedTuple):
    level: Annotated[str, one_of("debug", "info", "warning", "error")] = "info"


class ChannelSection(NamedTuple):
    """Where the person is. `auto` means Telegram if there is a bot token, else the terminal."""

    kind: Annotated[str, one_of("auto", "terminal", "telegram")] = "auto"


class TelegramSection(NamedTuple):
    """`allow` lists the user ids that may talk to the coach; everybody else is ignored."""

    allow: Annotated[tuple[int, ...], USER_IDS] = ()


class TerminalSection(NamedTuple):
    """`desktop` shows messages as notifications of the desktop too."""

    desktop: Annotated[bool, FLAG] = False


class AttentionSection(NamedTuple):
    ping_budget: Annotated[bool, SWITCH] = True
    capacity: Annotated[int, whole(1, MOST_PING_CAPACITY)] = PING_CAPACITY
    refill_minutes: Annotated[int, whole(1, MOST_PING_REFILL_MINUTES)] = PING_REFILL_MINUTES
    reserve: Annotated[bool, FLAG] = True
    learning: Annotated[bool, SWITCH] = True


class CoachSection(NamedTuple):
    """Durations are microseconds. `help_line` ("call 116 123") and `emergency` are where somebody in trouble is told to
    turn; without them it goes by the time zone."""

    heartbeat: Annotated[int, DURATION] = HEARTBEAT
    change_gate: Annotated[bool, FLAG] = True
    longest_silence: Annotated[int, DURATION] = LONGEST_SILENCE
    help_line: Annotated[str, TEXT] = ""
    emergency: Annotated[str, TEXT] = ""


class SpendingSection(NamedTuple):
    """`window` is the money, in micro-dollars, until `renews` (without a date, for thirty days), and `windows` that of
    single tiers. A spending day begins at `day_starts`.

    `models` are routes of all tiers, purpose by purpose, and `tiers` those of one. `weights` state prices.
    """

    window: Annotated[int, MONEY] = SPENDING_WINDOW
    windows: Annotated[Mapping[str, int], WINDOWS] = _NOTHING
    renews: Annotated[date | None, DAY] = None
    day_starts: Annotated[str, DAY_START] = DAY_STARTS
    tier: Annotated[str, TEXT] = SPENDING_TIER
    models: Annotated[Mapping[str, str], MODEL_OF_PURPOSE] = _NOTHING
    tiers: Annotated[Mapping[str, Mapping[str, str]], TIERS] = _NOTHING
    weights: Annotated[Mapping[str, Any], WEIGHTS] = _NOTHING
    alert_to: Annotated[str, TEXT] = ""

    @property
    def plan(self) -> "SpendingPlan":
        """The money of the tier in force."""
        from nudge.spending.budgets import SpendingPlan

        return SpendingPlan(self.windows.get(self.tier, self.window), self.renews, self.tier)

    @property
    def turn(self) -> "DayTurn":
        from nudge.spending.allowance import DayTurn

        return DayTurn.parse(self.day_starts)

    @property
    def routes(self) -> "Routes":
        """A model for every purpose of every tier. A tier that only has a window has the standard models."""
        from nudge.spending.routing import EVERY_TIER, Routes

        overlay: dict[str, Any] = {**dict.fromkeys(self.windows, _NOTHING), **self.tiers}
        return Routes.of({**overlay, EVERY_TIER: self.models} if self.models else overlay)


class WorkerSection(NamedTuple):
    """What one run of a worker may use unless its task says otherwise. Money is micro-dollars; 0 lifts a limit.

    `snapshots` is where workspaces are kept: a folder, or an S3 address; by default a folder in the home. S3 gets a
    snapshot after every `snapshot_every` steps that changed something, when a task ends and before the agent sleeps.
    """

    budget_max_tokens: Annotated[int, whole(0, 10**12)] = RUN_TOKENS
    budget_max_cost: Annotated[int, MONEY] = RUN_COST
    budget_max_duration: Annotated[int, whole(0, 10**8)] = RUN_SECONDS
    max_iterations: Annotated[int, whole(0, 10**6)] = 0
    mode: Annotated[str, one_of("strict", "advisory", "soft")] = "strict"
    snapshots: Annotated[str, TEXT] = ""
    keep_snapshots: Annotated[int, whole(1, 10_000)] = 20
    snapshot_every: Annotated[int, whole(1, 10_000)] = 10

    @property
    def limits(self) -> "RunLimits":
        from datetime import timedelta

        from nudge.progress.run_limits import RunLimits
        from nudge.spending.money import Money

        return RunLimits(
            self.budget_max_tokens or None,
            Money(self.budget_max_cost) if self.budget_max_cost else None,
            timedelta(seconds=self.budget_max_duration) if self.budget_max_duration else None,
            self.max_iterations or None,
        )

    @property
    def run_options(self) -> "RunOptions":
        """How runs are limited unless a task says otherwise."""
        from nudge.progress.run_limits import BudgetEnforcementMode
        from nudge.worker.loop import RunOptions

        return RunOptions(self.limits, BudgetEnforcementMode(self.mode))


class GatewaySection(NamedTuple):
    """`enabled` runs the gateway inside the daemon. Beyond loopback every client needs a token. `upstreams` are the
    services behind it, by provider. `repeats` is what happens to runs that repeat themselves, unless a role says it."""

    enabled: Annotated[bool, FLAG] = False
    host: Annotated[str, TEXT] = GATEWAY_HOST
    port: Annotated[int, whole(1, 65_535)] = GATEWAY_PORT
    upstreams: Annotated[Mapping[str, str], UPSTREAMS] = _NOTHING
    repeats: Annotated[str, one_of("off", "observe", "refuse")] = "off"


class WindowsSection(NamedTuple):
    """The windows of a subscription. With `spare` agents that work by themselves use only what would expire unused."""

    spare: Annotated[bool, FLAG] = False


class Environment(Mapping[str, str]):
    """The values of `.env` and the environment by name. Shows which there are, and no value."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str] = _NOTHING) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Environment({', '.join(sorted(self))})"


PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
}
"""Whose models can be asked, as `nudge.models` opens them, each with what it needs of `.env`: one of these. A server on
this machine asks for no key."""
DEFAULT_PROVIDER = "anthropic"
"""The one that "auto" means, and that has a model for every purpose without being told."""

FIELDS: Mapping[str, Kind] = {"timezone": ZONE, "model": one_of("auto", "offline", *PROVIDERS)}
"""What stands above all sections of nudge.toml."""

SECTIONS: Mapping[str, Any] = {
    "log": LogSection,
    "channel": ChannelSection,
    "telegram": TelegramSection,
    "terminal": TerminalSection,
    "attention": AttentionSection,
    "coach": CoachSection,
    "spending": SpendingSection,
    "worker": WorkerSection,
    "gateway": GatewaySection,
    "windows": WindowsSection,
}


class Config(NamedTuple):
    """What is in force. `timezone` is the person's: that of the coach's GOALS.md, else of nudge.toml, else of this
    machine. `told_timezone` is that of nudge.toml, whether it counts or not."""

    home: Home
    environment: Environment = Environment()
    timezone: str = "UTC"
    told_timezone: str = ""
    model: str = "auto"
    log: LogSection = LogSection()
    channel: ChannelSection = ChannelSection()
    telegram: TelegramSection = TelegramSection()
    terminal: TerminalSection = TerminalSection()
    attention: AttentionSection = AttentionSection()
    coach: CoachSection = CoachSection()
    spending: SpendingSection = SpendingSection()
    worker: WorkerSection = WorkerSection()
    gateway: GatewaySection = GatewaySection()
    windows: WindowsSection = WindowsSection()

    @property
    def database_url(self) -> str:
        return self.environment.get("NUDGE_DATABASE_URL") or f"sqlite:///{self.home.database}"

    @property
    def snapshots_url(self) -> str:
        return self.worker.snapshots or str(self.home.snapshots)

    @property
    def provider(self) -> str | None:
        """Whose model answers and is paid for; None where the coach's own rules answer. A key for OpenAI alone changes
        nothing: other programs use that name too, so it has to be asked for by `model`."""
        asked = DEFAULT_PROVIDER if self.model == "auto" else self.model
        return asked if any(self.environment.get(name) for name in PROVIDERS.get(asked, ())) else None

    @property
    def has_local_model(self) -> bool:
        """Whether the service that answers is on this machine or in this network, such as Ollama or vLLM."""
        url = self.environment.get(f"{(self.provider or '').upper()}_BASE_URL", "")
        host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        name = host.partition("]")[0].strip("[") if host.startswith("[") else host.partition(":")[0]
        if name in ("localhost", "host.docker.internal") or name.endswith((".localhost", ".local")):
            return True
        from ipaddress import ip_address

        try:
            return ip_address(name).is_private
        except ValueError:
            return False

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must never be shown."""
        return secrets_of(self.environment)

    def with_value(self, section: str, field: str, value: Any) -> "Config":
        """With another value of one field, already read by its kind."""
        if not section:
            return self._replace(**{field: value})
        return self._replace(**{section: getattr(self, section)._replace(**{field: value})})


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Parts that are as good as the whole are secrets as well: the password of a URL, the second half of a bot's token,
    the path of the health check."""
    parts = []
    for name in SECRET_NAMES:
        value = environment.get(name)
        if not value:
            continue
        parts.append(value)
        before_host, at, _ = value.partition("://")[2].rpartition("@")
        if at and ":" in before_host:
            parts.append(before_host.split(":", 1)[1])
        if name == "TELEGRAM_BOT_TOKEN":
            parts.append(value.partition(":")[2])
        if name == "NUDGE_HEALTHCHECK_URL":
            path = value.partition("://")[2].partition("/")[2]
            parts.extend(part for part in re.split(r"[/?&=#]", path) if len(part) >= _SHORTEST_KEY)
    return tuple(part for part in parts if part)


def without_secrets(environment: Mapping[str, str], secrets: tuple[str, ...]) -> dict[str, str]:
    """An environment for somebody else's program."""
    hidden = {secret for secret in secrets if secret}
    return {name: value for name, value in environment.items() if name not in SECRET_NAMES and value not in hidden}


def kinds_of(section: str) -> dict[str, Kind]:
    """The fields of a section, each with the kind of value that it takes."""
    annotations: Mapping[str, Any] = SECTIONS[section].__annotations__
    return {name: annotation.__metadata__[0] for name, annotation in annotations.items()}
