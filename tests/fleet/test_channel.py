"""The person's channel on a fleet: one worker polls it, or it pushes to any of them. Nothing is answered twice."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from nudge.errors import UsageError
from nudge.fleet.dev_server import DevServer, free_port
from nudge.fleet.webhook import Webhook
from nudge.testing.telegram_server import PERSON, FakeTelegram
from tests.cli.cli import NUDGE, Cli, until

PATIENCE = 90.0
KILLED = "NUDGE_KILLS" in os.environ
"""A killed worker's lease lasts for 20 s more, so only `make fleet-soak` kills it."""
SECRET = "x-telegram-bot-api-secret-token"


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, postgres_url: str, telegram: FakeTelegram) -> Cli:
    cli = Cli(tmp_path / "home", {"NUDGE_DATABASE_URL": postgres_url})
    cli("init")
    config = cli.home / "nudge.toml"
    config.write_text(config.read_text().replace("[telegram]\n", f"[telegram]\nallow = [{PERSON}]\n"))
    cli.environment |= {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_BASE": telegram.url}
    return cli


@contextmanager
def worker(home: Cli, temporal: DevServer, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [*NUDGE, "fleet", "worker", "--temporal", temporal.address, *more]
    process = subprocess.Popen(command, env=home.environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def answers(telegram: FakeTelegram) -> int:
    return sum("water" in message.text for message in telegram.sent)


def test_another_worker_listens_when_the_first_is_gone(home: Cli, temporal: DevServer, telegram: FakeTelegram) -> None:
    home("fleet", "adopt", "--temporal", temporal.address, "--task-queue", "listening")
    with worker(home, temporal) as first:
        telegram.say("remind me to water the plants in 3 hours")
        until(lambda: answers(telegram) == 1, "it is answered", PATIENCE)
        with worker(home, temporal):
            first.kill() if KILLED else first.terminate()
            first.wait()
            telegram.say("remind me to water the garden in 4 hours")
            until(lambda: answers(telegram) == 2, "the other worker answers", PATIENCE)
            until(lambda: len(home.json("reminder", "list")) == 2, "both are set", PATIENCE)


def test_what_is_pushed_is_answered_once_and_only_if_the_service_pushed_it(
    home: Cli, temporal: DevServer, telegram: FakeTelegram
) -> None:
    home("fleet", "adopt", "--temporal", temporal.address, "--task-queue", "pushed")
    port = free_port()
    pushes = ["--webhook", "https://bot.example/told/here", "--listen", f"127.0.0.1:{port}"]

    def told(method: str) -> Any:
        return next((params for name, params in telegram.calls if name == method), None)

    def push(update: Any, secret: str) -> int:
        url = f"http://127.0.0.1:{port}/told/here"
        return httpx2.post(url, json=update, headers={SECRET: secret}).status_code

    with worker(home, temporal, *pushes):
        until(lambda: told("setWebhook"), "Telegram is told the address", PATIENCE)
        secret = told("setWebhook")["secret_token"]
        later = {"update_id": 71, "message": telegram.message("remind me to water the plants in 3 hours")}
        earlier = {"update_id": 70, "message": telegram.message("remind me to water the garden in 4 hours")}
        assert push(later, "guessed") == 403
        assert [push(update, secret) for update in (later, later, earlier, later)] == [200] * 4
        assert push({"update_id": 72, "message": "broken"}, secret) == 200, "it would come again for ever"
        until(lambda: answers(telegram) == 2, "both are answered", PATIENCE)
        assert len(home.json("reminder", "list")) == 2
        assert telegram.polls == 0
    with worker(home, temporal):
        until(lambda: told("deleteWebhook") is not None, "Telegram pushes no more", PATIENCE)
        until(lambda: telegram.polls > 0, "it is polled", PATIENCE)
    assert answers(telegram) == 2


@pytest.mark.parametrize(
    "url, listen, words",
    [
        pytest.param("http://bot.example/x", "127.0.0.1:8443", "https", id="Telegram pushes over TLS only"),
        pytest.param("https://bot.example/x", "8443", "HOST:PORT", id="an address has a host"),
    ],
)
def test_a_webhook_that_cannot_work_is_refused(url: str, listen: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Webhook.of(url, listen)
