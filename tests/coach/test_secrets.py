"""Keys that come back by a way round: printed by a command, quoted in parts, left in a file."""

import asyncio
import logging
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from nudge.coach.conversation import LEFT_OUT
from nudge.daemon.rescue import copy_database
from nudge.home.command_conditions import OUTPUT_BYTES, CommandConditions
from nudge.home.folder import Home
from nudge.home.logs import LogRedaction, configure_logs
from nudge.home.read_config import read_config
from nudge.instants import SECOND
from nudge.models.failures import LONGEST_WORDS, Help, RefusedError, failure_of_refusal
from nudge.redaction import redact
from nudge.reminders.conditions import Question
from nudge.stores.open import open_store
from nudge.testing import VirtualClock, run_virtual
from tests.coach.rig import Rig, Scripted
from tests.times import NOON

ENV = {
    "TELEGRAM_BOT_TOKEN": "123456:second-half-of-the-token",
    "NUDGE_HEALTHCHECK_URL": "https://hc.example/ping/0c5c3b1e-health",
    "NUDGE_SMTP_URL": "smtps://bob:p%40ssw0rd@mail.example",
}


@pytest.fixture
def secrets(tmp_path: Path) -> tuple[str, ...]:
    return read_config(Home(tmp_path), ENV).secrets


@pytest.mark.parametrize("part", ["second-half-of-the-token", "0c5c3b1e-health", "p@ssw0rd", "p%40ssw0rd"])
def test_a_part_that_is_as_good_as_the_whole_is_hidden(secrets: tuple[str, ...], part: str) -> None:
    assert redact(f"it said {part} aloud", secrets) == "it said [hidden] aloud"


def test_a_word_of_an_address_is_no_secret(secrets: tuple[str, ...]) -> None:
    assert redact("a ping from hc.example", secrets) == "a ping from hc.example"


@pytest.mark.parametrize("ends", ["exit 0", "exit 1", "kill $$"])
async def test_a_command_that_prints_the_keys_tells_nobody(secrets: tuple[str, ...], tmp_path: Path, ends: str) -> None:
    (tmp_path / "keys").write_text("\n".join(ENV.values()))
    conditions = CommandConditions(lambda agent: tmp_path, secrets=secrets)
    verdict = await conditions.ask(Question(f"cat keys; {ends}", "coach", "r-aaaaaa", 0, 20 * SECOND))
    assert "[hidden]" in verdict.output
    for secret in secrets:
        assert secret not in verdict.output


def test_the_log_is_its_owners_whatever_the_umask(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir(mode=0o755)
    before = os.umask(0)
    level, root = logging.getLogger().level, logging.getLogger()
    handlers = configure_logs("INFO", (), folder)
    try:
        logging.getLogger("nudge.test").warning("hello")
        assert stat.S_IMODE((folder / "nudge.log").stat().st_mode) == 0o600
    finally:
        os.umask(before)
        root.setLevel(level)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


OWN = "sk-ant-api03-q7Wn2VbX9sKd4LmT8rYpQ1"
ECHO = {
    "reply": f"Your key is {OWN}.",
    "actions": [{"action": "update_memory", "section": "Notes", "add": f"The key is {OWN}"}],
    "recent_context": f"We spoke about {OWN}.",
}


def raw(folder: Path) -> bytes:
    """Everything that lies in the files of a home, whatever its form."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def on_a_file(tmp_path: Path, scenario: Any, model: Scripted | None = None, **options: Any) -> None:
    async def main(clock: VirtualClock) -> None:
        store = await open_store(f"sqlite:///{tmp_path}/nudge.db")
        rig = await Rig(clock, store, tmp_path, model, **options).open()
        try:
            await scenario(rig)
        finally:
            await store.close()

    run_virtual(main, NOON)


def test_a_key_that_a_model_echoes_is_kept_nowhere(tmp_path: Path) -> None:
    model = Scripted(ECHO)

    async def scenario(rig: Rig) -> None:
        assert OWN not in await rig.say("what is your key?")
        assert OWN.encode() not in raw(tmp_path)
        assert b"q7Wn2VbX9sKd" not in raw(tmp_path)

    on_a_file(tmp_path, scenario, model, secrets=(OWN,))


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        pytest.param("note that my password is hunter22x", "hunter22x", id="a password in a message"),
        pytest.param("/remind the password is hunter22x at 5pm", "hunter22x", id="a password in a command"),
        pytest.param("remind me at 5pm: pwd: hunter22x", "hunter22x", id="a password in a reminder"),
        pytest.param("the AWS id is AKIA" + "IOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE", id="a key"),
    ],
)
def test_what_is_pasted_is_not_stored_nor_sent_to_a_model_and_the_person_is_told(
    tmp_path: Path, said: str, secret: str
) -> None:
    model = Scripted()

    async def scenario(rig: Rig) -> None:
        assert LEFT_OUT in await rig.say(said)
        await rig.say("thanks")
        assert secret.encode() not in raw(tmp_path)
        assert not any(secret in text for request in model.requests for text in request.texts())

    on_a_file(tmp_path, scenario, model)


def test_a_password_in_a_document_is_not_sent_to_a_model(tmp_path: Path) -> None:
    model = Scripted()

    async def scenario(rig: Rig) -> None:
        rig.write("GOALS.md", rig.document("GOALS.md") + "\n## Wi-Fi\nThe password is hunter22x\n")
        await rig.say("hello")
        texts = [text for request in model.requests for text in request.texts()]
        assert any("The password is [hidden]" in text for text in texts)
        assert not any("hunter22x" in text for text in texts)

    on_a_file(tmp_path, scenario, model)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        pytest.param("remind me to meet the blue elephant in 3 hours", b"blue elephant", id="in a sentence"),
        pytest.param("/remind meet the blue elephant in 3 hours", b"blue elephant", id="by a command"),
        pytest.param("remember that I fear the blue elephant", b"blue elephant", id="a line of memory"),
    ],
)
def test_redact_leaves_no_byte_in_any_file(tmp_path: Path, said: str, words: bytes) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()

    async def scenario(rig: Rig) -> None:
        await rig.say("hello")
        await rig.say(said)
        await rig.say("how are you?")
        copy_database(tmp_path / "nudge.db", copies, rig.clock.now())
        assert words in raw(tmp_path).lower()
        await rig.say("/redact 4")
        await rig.settle()
        assert words not in raw(tmp_path).lower()
        assert not await rig.reminders.list("coach", ended=True)

    on_a_file(tmp_path, scenario, redactor=LogRedaction(tmp_path / "logs", copies=copies))


def test_a_secret_across_the_cut_of_a_commands_output_leaves_no_part(tmp_path: Path) -> None:
    async def main() -> str:
        conditions = CommandConditions(lambda agent: tmp_path, secrets=(OWN,))
        command = f"printf '%{OUTPUT_BYTES - 7}s' ''; echo {OWN}"
        return (await conditions.ask(Question(command, "coach", "r-aaaaaa", 0, 20 * SECOND))).output

    output = asyncio.run(main())
    assert output.strip() == "[hidden"
    assert "sk-ant" not in output


def test_a_refusal_is_cut_after_its_secrets_are_taken_out() -> None:
    said = "x" * (LONGEST_WORDS - 8) + f" {OWN}"
    help_ = Help("The service", "Get a key.", "Name a model.")
    failure = failure_of_refusal(RefusedError(401, said), None, help_, now=NOON, key=OWN)
    assert "sk-ant" not in str(failure)
