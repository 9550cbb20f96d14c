"""What `nudge run` asks of a configuration before it starts; `nudge config check` and `nudge doctor` ask the same."""

from __future__ import annotations

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
    telegram_token(settings, config)
    pays(settings, config)
    SmtpMailer.from_settings(settings.environment, config.spending.alert_to)
    return config


def telegram_token(settings: Settings, config: Config) -> str:
    """The bot's token, or nothing where the person is in the terminal."""
    token = settings.environment.get("TELEGRAM_BOT_TOKEN", "").strip()
    kind = config.channel.kind
    if kind == "terminal" or (kind == "auto" and not token):
        return ""
    if not token:
        raise NotConfiguredError(
            'channel.kind is "telegram" in nudge.toml, but there is no TELEGRAM_BOT_TOKEN.',
            next_step=f"Get one from @BotFather and put it into {settings.home.env_file}.",
        )
    if not config.telegram.allow:
        raise NotConfiguredError(
            "There is a Telegram token, but nobody may talk to the bot: telegram.allow in nudge.toml is empty.",
            next_step=f"Ask @userinfobot for your numeric id and write 'allow = [ID]' under [telegram] in "
            f"{settings.home.config}; or run 'nudge run --terminal'.",
        )
    return token


def pays(settings: Settings, config: Config) -> bool:
    """Whether there is a model that is paid for; else rules do the thinking."""
    has_key = bool(settings.environment.get("ANTHROPIC_API_KEY"))
    if config.model == "anthropic" and not has_key:
        raise NotConfiguredError(
            'model = "anthropic" in nudge.toml, but there is no ANTHROPIC_API_KEY.',
            next_step=f'Put the key into {settings.home.env_file}, or set model = "auto".',
        )
    return has_key and config.model != "offline"
