"""What `nudge run` asks of a configuration before it starts; `nudge config check` and `nudge doctor` ask the same."""

from __future__ import annotations

from nudge.clock import SystemClock
from nudge.daemon.channel import channel_of
from nudge.errors import NotConfiguredError
from nudge.home.config import Config, load_config
from nudge.home.settings import Settings
from nudge.instants import zone_of
from nudge.stores.open import check_url


def checked(settings: Settings) -> Config:
    """The configuration, if a daemon could start from it. The first thing that it would refuse is raised."""
    from nudge.channels.smtp import SmtpMailer
    from nudge.home.spending_plan import plan_of

    config = load_config(settings)
    zone_of(settings.timezone)
    plan_of(settings)
    check_url(settings.database_url)
    channel_of(settings, config, SystemClock())
    pays(settings, config)
    SmtpMailer.from_settings(settings.environment, config.spending.alert_to)
    return config


def pays(settings: Settings, config: Config) -> bool:
    """Whether there is a model that is paid for; else rules do the thinking."""
    has_key = bool(settings.environment.get("ANTHROPIC_API_KEY"))
    if config.model == "anthropic" and not has_key:
        raise NotConfiguredError(
            'model = "anthropic" in nudge.toml, but there is no ANTHROPIC_API_KEY.',
            next_step=f'Put the key into {settings.home.env_file}, or set model = "auto".',
        )
    return has_key and config.model != "offline"
