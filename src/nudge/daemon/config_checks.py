"""Checks of the configuration: what `nudge config check` reports, and what `nudge run` refuses to start with."""

from __future__ import annotations

from collections.abc import Iterator

from nudge.daemon.findings import Check, Finding, Subject
from nudge.home.config import DEFAULT_PROVIDER, ENVIRONMENT, PROVIDERS
from nudge.home.config_values import meant
from nudge.home.read_config import env_file_names
from nudge.stores.open import check_url


def _config(subject: Subject) -> Iterator[Finding]:
    config, mistakes = subject.read
    yield from (Finding("config", "error", str(mistake), mistake.next_step) for mistake in mistakes)
    if mistakes:
        return
    other = config.told_timezone if config.told_timezone not in ("", config.timezone) else ""
    instead = f", from GOALS.md (nudge.toml says {other})" if other else ""
    yield Finding("config", "ok", f"nudge.toml is valid; time zone {config.timezone}{instead}")
    check_url(config.database_url)


def _secrets(subject: Subject) -> Iterator[Finding]:
    environment = subject.config.environment
    for name, without in (
        ("ANTHROPIC_API_KEY", "not set"),
        ("OPENAI_API_KEY", "not set"),
        ("TELEGRAM_BOT_TOKEN", "not set: the coach is in the terminal"),
        ("NUDGE_HEALTHCHECK_URL", "not set: nobody is told if nudge stops"),
        ("NUDGE_SMTP_URL", "not set: no e-mail if a budget is exceeded"),
    ):
        yield Finding("secrets", "ok", f"{name} is {'set' if name in environment else without}")
    for name, line in env_file_names(subject.home).items():
        if name not in ENVIRONMENT and (close := meant(name, ENVIRONMENT, cutoff=0.8)):
            where = f"{subject.home.env_file}, line {line}"
            yield Finding("secrets", "warning", f"{where}: nudge does not read {name}.", f"Write {close}.")


def _channel(subject: Subject) -> Iterator[Finding]:
    """Whether the channel has what it needs. Making one connects to nobody."""
    from nudge.clock import SystemClock
    from nudge.daemon.channel import channel_of

    if subject.readable and not subject.terminal:
        yield Finding("channel", "ok", channel_of(subject.config, SystemClock()).name)


def _model(subject: Subject) -> Iterator[Finding]:
    config = subject.config
    if not subject.readable:
        return
    spending, needs = config.spending, PROVIDERS.get(config.model)
    if needs and config.provider is None:
        yield Finding(
            "model",
            "error",
            f'model = "{config.model}" in nudge.toml, but there is no {" or ".join(needs)}.',
            f'Put it into {config.home.env_file}, or set model = "auto".',
        )
    elif config.provider not in (None, DEFAULT_PROVIDER) and not (spending.models or spending.tiers):
        yield Finding(
            "model",
            "error",
            f'model = "{config.model}" in nudge.toml, but no default model is set.',
            "Write 'default = \"NAME\"' under [spending.models]. See docs/models.md.",
        )
    else:
        yield Finding("model", "ok", config.provider or "none: the coach works by its own rules, offline")


def _mail(subject: Subject) -> Iterator[Finding]:
    from nudge.channels.smtp import SmtpMailer

    if subject.readable and SmtpMailer.from_settings(subject.config.environment, subject.config.spending.alert_to):
        yield Finding("mail", "ok", "alerts are mailed")


def _roles(subject: Subject) -> Iterator[Finding]:
    from nudge.home.seeds import HomeSeeds

    seeds, names = HomeSeeds(subject.home), []
    for file in sorted(subject.home.roles.glob("*.yaml")):
        mistakes = list(seeds.mistakes_of_role(file, subject.now, subject.config.timezone))
        yield from (Finding.of("roles", mistake) for mistake in mistakes)
        if not mistakes:
            names.append(file.stem)
    yield Finding("roles", "ok", ", ".join(names) or "no roles")


def _prices(subject: Subject) -> Iterator[Finding]:
    from nudge.home.prices import prices_of

    home = subject.home
    table = prices_of(subject.config)
    age = table.age_days(subject.now)
    text = f"{len(table.models)} models, " + (
        "without a date" if age is None else f"read {age} day{'s' if age != 1 else ''} ago"
    )
    if table.is_stale(subject.now):
        step = (
            f"Compare with the provider's page, then write what differs and 'read = DATE' to {home.path}/prices.toml."
        )
        yield Finding("prices", "warning", f"{text}: they may have changed.", step)
    else:
        yield Finding("prices", "ok", text)
    for model in _asked_models(subject):
        if not table.quote(model).known:
            yield Finding(
                "prices",
                "warning",
                f"{model} has no price, so its calls are charged at the highest known price.",
                f'Add [models."{model}"] with input and output to {home.path}/prices.toml; 0 for a local model.',
            )


def _asked_models(subject: Subject) -> list[str]:
    """The models that the configuration asks; none if the coach's own rules answer."""
    from nudge.spending.routing import PURPOSES

    if not subject.readable or subject.config.provider is None:
        return []
    spending = subject.config.spending
    return sorted({spending.routes.model(spending.tier, purpose) for purpose in PURPOSES})


CONFIG_CHECKS = (
    Check("config", _config),
    Check("secrets", _secrets),
    Check("channel", _channel),
    Check("model", _model),
    Check("mail", _mail),
    Check("roles", _roles),
    Check("prices", _prices),
)
