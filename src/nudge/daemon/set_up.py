"""What `nudge run` asks of a configuration before it starts; `nudge config check` and `nudge doctor` ask the same."""

from __future__ import annotations

from nudge.clock import SystemClock
from nudge.daemon.channel import channel_of
from nudge.errors import ConfigError
from nudge.home.config import Config, load_config
from nudge.home.settings import Settings
from nudge.instants import zone_of
from nudge.models import PROVIDERS, chosen
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
    provider_of(settings, config)
    SmtpMailer.from_settings(settings.environment, config.spending.alert_to)
    return config


def provider_of(settings: Settings, config: Config) -> str | None:
    """Whose model is asked, by the provider's name; None where the coach's own rules answer."""
    try:
        provider = chosen(config.model, settings.environment, str(settings.home.env_file))
    except ConfigError as error:
        raise ConfigError(f"{settings.home.config}: model: {error.message}", next_step=error.next_step) from None
    spending = config.spending
    if provider is not None and not PROVIDERS[provider].auto and not (spending.models or spending.tiers):
        raise ConfigError(
            f'{settings.home.config}: model = "{provider}", but nothing says which of its models to ask.',
            next_step='Write \'default = "NAME"\' under [spending.models], for example "qwen3:8b".',
        )
    return provider
