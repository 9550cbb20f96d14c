"""The person's channel on a fleet: one worker listens at a time, and nothing is answered twice."""

from __future__ import annotations

import subprocess
from pathlib import Path

from nudge.fleet.dev_server import DevServer
from nudge.testing.telegram_server import PERSON, FakeTelegram
from tests.cli.cli import NUDGE, Cli, until

PATIENCE = 90.0


def test_another_worker_listens_when_the_first_is_killed(
    tmp_path: Path, postgres_url: str, temporal: DevServer
) -> None:
    with FakeTelegram() as telegram:
        home = Cli(tmp_path / "home", {"NUDGE_DATABASE_URL": postgres_url})
        home("init")
        config = home.home / "nudge.toml"
        config.write_text(config.read_text().replace("[telegram]\n", f"[telegram]\nallow = [{PERSON}]\n"))
        home.environment |= {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_BASE": telegram.url}
        home("fleet", "adopt", "--temporal", temporal.address, "--task-queue", "listening")

        def worker() -> subprocess.Popen[bytes]:
            return subprocess.Popen([*NUDGE, "fleet", "worker", "--temporal", temporal.address], env=home.environment)

        def answers() -> int:
            return sum("water" in message.text for message in telegram.sent)

        first = worker()
        second = None
        try:
            telegram.say("remind me to water the plants in 3 hours")
            until(lambda: answers() == 1, "it is answered", PATIENCE)
            second = worker()
            first.kill()
            first.wait()
            telegram.say("remind me to water the garden in 4 hours")
            until(lambda: answers() == 2, "the other worker answers", PATIENCE)
            until(lambda: len(home.json("reminder", "list")) == 2, "both are set", PATIENCE)
        finally:
            for process in (first, second):
                if process is not None:
                    process.kill()
                    process.wait()
