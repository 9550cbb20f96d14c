"""A mistake in the configuration: the same sentence from every command, all mistakes at once, and nothing starts."""

from __future__ import annotations

import json
import os
import signal
import stat

import pytest

from nudge.testing import FakeAnthropic
from tests.cli.cli import CliHere, until

EVERY_COMMAND = [
    ["ping-budget"],
    ["budget"],
    ["budget", "history"],
    ["budget", "top-up", "5"],
    ["reminder", "list"],
    ["reminder", "call mum friday 5pm"],
    ["log"],
    ["why"],
    ["agent", "list"],
    ["config", "show"],
    ["simulate", "--days", "1"],
    ["run"],
    ["chat"],
]


@pytest.mark.parametrize("words", EVERY_COMMAND, ids=" ".join)
def test_every_command_says_the_same_sentence(here: CliHere, words: list[str]) -> None:
    (here.home / "nudge.toml").write_text('\n[attention]\ncapacity = "lots"\n')
    sentence = (
        f'{here.home}/nudge.toml, line 3: attention.capacity: expected a whole number from 1 to 1000000, found "lots".'
    )
    done = here(*words, code=4)
    assert done.stdout == ""
    assert done.stderr == f"error: {sentence}\n  next: Fix that line, then run 'nudge config check'.\n"
    assert f"✗ config       {sentence}" in here("config", "check", code=4).stdout
    assert f"✗ config       {sentence}" in here("doctor", code=1).stdout


def test_all_mistakes_are_told_at_once(here: CliHere) -> None:
    (here.home / "nudge.toml").write_text('modle = "auto"\n[telegram]\nallow = [true]\n[coach]\nheartbeat = "soon"\n')
    (here.home / ".env").write_text("ANTHROPIC_API_KEY=two words\nnonsense\n")
    said = here("budget", code=4).stderr.splitlines()
    toml, env = f"error: {here.home}/nudge.toml", f"error: {here.home}/.env"
    assert said == [
        f"{toml}, line 1: modle: no such field; did you mean model?",
        f"{toml}, line 3: telegram.allow[0]: expected a numeric user id such as 123456789, found true.",
        f'{toml}, line 5: coach.heartbeat: expected a duration such as "45m" or "1h30m", found "soon".',
        f"{env}, line 1: ANTHROPIC_API_KEY must be a key without spaces.",
        f"{env}, line 2: expected KEY=VALUE.",
        "  next: Fix these 5, then run 'nudge config check'.",
    ]
    report = here("config", "check", code=4).stdout.splitlines()
    assert report[-1] == "5 errors"
    for line in said[:-1]:
        assert f"✗ config       {line.removeprefix('error: ')}" in report


BROKEN = [
    pytest.param("nudge.toml", "timezone = \n", "nudge.toml, line 1: not valid TOML: Invalid value", id="broken TOML"),
    pytest.param("nudge.toml", "a = [", "nudge.toml, line 1: not valid TOML", id="a file that ends too early"),
    pytest.param("nudge.toml", '\n[attention]\ncapacity = "many"\n', "line 3: attention.capacity", id="wrong type"),
    pytest.param("nudge.toml", "\nfrequency = 3\n", "line 2: frequency: no such field.", id="unknown field"),
    pytest.param("nudge.toml", 'timezone = "Mars/Olympus"\n', 'found "Mars/Olympus"', id="no such zone"),
    pytest.param("nudge.toml", '[spending]\nwindow = "a lot"\n', "line 2: spending.window", id="no money"),
    pytest.param("nudge.toml", '[spending]\nrenews = "soon"\n', "line 2: spending.renews", id="no date"),
    pytest.param("nudge.toml", '[spending]\nday_starts = "noon"\n', "line 2: spending.day_starts", id="no time of day"),
    pytest.param("nudge.toml", '[spending]\nday_starts = "04:00 Nowhere/Else"\n', "day_starts", id="no zone of a day"),
    pytest.param("nudge.toml", '[spending]\ntier = "golden"\n', 'found "golden"', id="no such tier"),
    pytest.param("nudge.toml", "[spending]\nwindows = 3\n", "line 2: spending.windows", id="no table"),
    pytest.param("nudge.toml", '[spending]\nmodels.work = ""\n', "line 2: spending.models.work", id="no model"),
    pytest.param(
        "nudge.toml",
        '[spending]\nmodels.heartbeats = "x"\n',
        "spending.models.heartbeats: no such field; did you mean heartbeat?",
        id="no such purpose",
    ),
    pytest.param("nudge.toml", "[spending.weights]\nnonsense = 3\n", "'nonsense'", id="a weight of nothing"),
    pytest.param(".env", "ANTHROPIC_API_KEY\n", ".env, line 1: expected KEY=VALUE.", id="broken .env"),
    pytest.param(".env", "\nA='x\n", ".env, line 2: A: the quote is not closed.", id="open quote"),
    pytest.param(
        ".env", "TELEGRAM_BOT_TOKEN=abc\n", ".env, line 1: TELEGRAM_BOT_TOKEN must be a bot token", id="token"
    ),
    pytest.param(".env", "OPENAI_BASE_URL=ftp://x\n", "OPENAI_BASE_URL must be an address", id="address"),
    pytest.param("prices.toml", "read = 'soon'\n", "prices.toml: read = 'soon' is not a day", id="broken prices"),
    pytest.param("roles/coach.yaml", "name: coach\nreminders: [\n", "coach.yaml, line", id="broken YAML"),
    pytest.param("roles/coach.yaml", "name: coach\nkind: boss\n", "line 2: kind", id="unknown kind"),
    pytest.param(
        "roles/coach.yaml",
        "name: coach\nreminders:\n  - name: a\n    message: b\n    schedule: {every: 1h}\n    priority: loud\n",
        "coach.yaml, line 6: ",
        id="a field deep inside",
    ),
    pytest.param("roles/coach.yaml", "- just\n- a list\n", "a role must be a mapping", id="not a mapping"),
    pytest.param(
        "roles/coach.yaml",
        "name: coach\nreminders:\n  - {name: a, message: b, schedule: {every: 1h, in: 2h}}\n",
        "coach.yaml, line 3: a: Only one schedule is allowed",
        id="a reminder with two schedules",
    ),
    pytest.param(
        "roles/coach.yaml",
        "name: coach\nreminders:\n" + "  - {name: a, message: b, schedule: {every: 1h}}\n" * 2,
        "coach.yaml, line 4: a is used for two reminders",
        id="two reminders of one name",
    ),
]

INCOMPLETE = [
    pytest.param('[channel]\nkind = "telegram"\n', "", "there is no TELEGRAM_BOT_TOKEN", id="no token"),
    pytest.param("", "TELEGRAM_BOT_TOKEN=123456:abc\n", "telegram.allow", id="a bot that may talk to nobody"),
    pytest.param('model = "anthropic"\n', "", "there is no ANTHROPIC_API_KEY", id="no key"),
    pytest.param('model = "openai"\n', "ANTHROPIC_API_KEY=x\n", "there is no OPENAI_API_KEY", id="another's key"),
    pytest.param("", "NUDGE_SMTP_URL=smtp://h:25\n", "alert_to", id="mail to nobody"),
    pytest.param("", "NUDGE_DATABASE_URL=mysql://u:pw@h/d\n", "postgresql://user:password@host", id="no database"),
    pytest.param("", "NUDGE_DATABASE_URL=postgresql://u:p@w@h/d\n", "write @ as %40", id="a password with an @"),
]


def agree(here: CliHere, says: str) -> None:
    """`run`, `config check` and `doctor` say it, in the same words."""
    refused = here("run", code=4).stderr
    assert says in refused
    assert "next:" in refused
    sentence = refused.splitlines()[0].removeprefix("error: ")
    report = here("config", "check", code=4).stdout
    assert sentence in report
    assert report.splitlines()[-1] == "1 error"
    found = json.loads(here("doctor", "--json", code=1).stdout)
    assert not found["ok"]
    assert sentence in [check["text"] for check in found["checks"] if check["level"] == "error"]


@pytest.mark.parametrize(("file", "text", "says"), BROKEN)
def test_a_broken_file_is_named_with_its_line_and_nothing_starts(
    here: CliHere, file: str, text: str, says: str
) -> None:
    (here.home / file).write_text(text)
    agree(here, says)


@pytest.mark.parametrize(("toml", "env", "says"), INCOMPLETE)
def test_the_checks_find_what_a_start_would_refuse(here: CliHere, toml: str, env: str, says: str) -> None:
    (here.home / "nudge.toml").write_text(toml)
    (here.home / ".env").write_text(env)
    agree(here, says)


@pytest.mark.parametrize(
    ("path", "mode", "command"),
    [
        pytest.param(".", 0o777, "chmod go-w {home}", id="the home"),
        pytest.param("nudge.toml", 0o666, "chmod go-w {home}/nudge.toml", id="nudge.toml"),
        pytest.param(".env", 0o644, "chmod 600 {home}/.env", id=".env, which others can read"),
        pytest.param("prices.toml", 0o602, "chmod go-w {home}/prices.toml", id="prices.toml"),
        pytest.param("roles", 0o777, "chmod go-w {home}/roles", id="the folder of roles"),
        pytest.param("roles/coach.yaml", 0o606, "chmod go-w {home}/roles/coach.yaml", id="a role"),
    ],
)
def test_a_file_that_others_can_change_is_refused_until_it_is_fixed(
    here: CliHere, path: str, mode: int, command: str
) -> None:
    (here.home / "prices.toml").touch(mode=0o600)
    exposed = here.home / path
    exposed.chmod(mode)
    agree(here, f"(mode {mode:04o})")
    assert f"Run '{command.format(home=here.home)}'" in here("run", code=4).stderr
    here("doctor", "--fix")
    assert stat.S_IMODE(exposed.stat().st_mode) & 0o022 == 0
    here("config", "check")


def test_the_secrets_of_a_file_that_is_refused_are_not_said(here: CliHere) -> None:
    (here.home / ".env").write_text("ANTHROPIC_API_KEY=sk-ant-something-secret\n")
    (here.home / ".env").chmod(0o644)
    for words in (["run"], ["config", "check"], ["budget"]):
        done = here(*words, code=4)
        assert "something-secret" not in done.stdout + done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(here: CliHere) -> None:
    role = here.home / "roles" / "coach.yaml"
    os.chown(role, 12345, -1)
    agree(here, f"{role} belongs to another user (uid 12345).")


def test_a_routine_that_others_can_change_is_not_read_and_doctor_says_so(here: CliHere) -> None:
    routine = here.home / "agents" / "coach" / "routines" / "evening.md"
    routine.write_text('---\nschedule:\n  cron: "0 18 * * *"\n---\nLook back.\n')
    here("doctor")
    routine.parent.chmod(0o777)
    done = here("doctor", code=1).stdout
    assert f"{routine.parent} can be changed by other users (mode 0777)." in done
    assert f"Run 'chmod go-w {routine.parent}'" in done
    here("doctor", "--fix")
    here("doctor")


def test_a_broken_goals_file_is_a_warning_with_its_line(here: CliHere) -> None:
    goals = here.home / "agents" / "coach" / "GOALS.md"
    goals.write_text('# Goals\n\n## Schedule Targets\n- wake_target: "25:00"\n')
    report = here("doctor").stdout.splitlines()
    assert any(line.startswith(f"! documents    {goals}, line 4: wake_target: ") for line in report)
    assert report[-1] == "1 warning"
    goals.unlink()
    assert here("doctor").stdout.splitlines()[-1] == "No problems found."


def test_a_name_in_the_env_file_that_is_almost_right_is_pointed_out(here: CliHere) -> None:
    (here.home / ".env").write_text("ANTHROPIC_API_KY=x\nMY_OWN=y\nANTHROPIC_BASE_URL=http://127.0.0.1:1\n")
    found = json.loads(here("config", "check", "--json").stdout)
    assert (found["ok"], found["errors"], found["warnings"]) == (True, 0, 1)
    (warning,) = [check for check in found["checks"] if check["level"] == "warning"]
    assert warning["text"] == f"{here.home}/.env, line 1: nudge does not read ANTHROPIC_API_KY."
    assert warning["next_step"] == "Write ANTHROPIC_API_KEY."


def test_config_show_never_prints_a_secret(here: CliHere) -> None:
    (here.home / ".env").write_text("TELEGRAM_BOT_TOKEN=123456789:AAHsecretsecretsecretsecretsecret\n")
    (here.home / "nudge.toml").write_text("[telegram]\nallow = [1]\n")
    for words in (["config", "show"], ["config", "show", "--json"], ["config", "check"], ["doctor"]):
        assert "AAHsecret" not in here(*words).stdout
    assert "TELEGRAM_BOT_TOKEN: set" in here("config", "show").stdout


def test_config_show_prints_what_is_in_force(here: CliHere) -> None:
    (here.home / "nudge.toml").write_text('[coach]\nheartbeat = "90 min"\n[spending]\nwindow = 12.5\n')
    shown = here("config", "show").stdout
    for line in ('model = "auto"', 'heartbeat = "1h 30m"', 'window = "12.50"', "capacity = 5", 'ping_budget = "on"'):
        assert line in shown.splitlines()
    told = here.json("config", "show")
    assert told["config"]["spending"]["renews"] == ""
    assert told["secrets"]["OPENAI_API_KEY"] == "not set"


def test_what_config_show_prints_is_a_configuration(here: CliHere) -> None:
    (here.home / "nudge.toml").write_text(
        '[spending]\ntier = "gold"\nrenews = 2030-01-01\n[spending.tiers.gold]\nwork = "m"\n'
        "[spending.windows]\ngold = 3\n[spending.weights]\nhaiku = 0.2\n[telegram]\nallow = [7]\n"
    )
    shown = here("config", "show").stdout
    (here.home / "nudge.toml").write_text(shown)
    assert here("config", "show").stdout == shown


def test_goals_md_decides_the_time_zone_and_the_check_says_so(here: CliHere) -> None:
    (here.home / "nudge.toml").write_text('timezone = "Asia/Tokyo"\n')
    said = "time zone America/Toronto, from GOALS.md (nudge.toml says Asia/Tokyo)"
    assert said in here("config", "check").stdout
    assert here.json("config", "show")["config"]["timezone"] == "America/Toronto"


def test_a_machine_whose_zone_has_no_name_is_told_to_name_one(here: CliHere) -> None:
    (here.home / "agents" / "coach" / "GOALS.md").unlink()
    here.environment["TZ"] = "EST+5"
    said = here("log", code=4).stderr
    assert 'environment: TZ: expected a time zone by its IANA name, such as "America/Toronto", found "EST+5".' in said
    assert "Set timezone in nudge.toml" in said
    (here.home / "nudge.toml").write_text('timezone = "Asia/Tokyo"\n')
    here("log")


def test_a_bad_key_is_found_by_doctor_and_an_unreachable_service_is_a_warning(here: CliHere) -> None:
    with FakeAnthropic() as service:
        here.environment |= {"ANTHROPIC_API_KEY": "sk-ant-wrong", "ANTHROPIC_BASE_URL": service.url}
        report = here("doctor", code=1).stdout
        assert f"✗ key          {service.url} does not accept the key" in report
        assert report.splitlines()[-1] == "1 error"
        here.environment["ANTHROPIC_API_KEY"] = service.api_key
        assert f"✓ key          {service.url} answers" in here("doctor").stdout
        (here.home / "nudge.toml").write_text('model = "offline"\n')
        assert "✓ key          not checked: no model is in use" in here("doctor").stdout
    (here.home / "nudge.toml").write_text("")
    report = here("doctor").stdout
    assert "! key          Not checked: " in report
    assert report.splitlines()[-1] == "1 warning"


def test_a_home_that_is_not_there_is_an_error_that_doctor_can_fix(fresh: CliHere) -> None:
    assert "nudge init" in fresh("doctor", code=1).stdout
    fresh("config", "check", code=4)
    fresh("doctor", "--fix")
    fresh("config", "check")


@pytest.mark.process
def test_a_bad_key_is_said_at_the_start_and_in_the_status(here: CliHere) -> None:
    with FakeAnthropic() as service:
        here.environment |= {"ANTHROPIC_API_KEY": "sk-ant-wrong", "ANTHROPIC_BASE_URL": service.url}
        with here.start() as daemon:
            until(lambda: here.json("status")["problems"], "the key was tried")
            (problem,) = here.json("status")["problems"]
            assert problem["text"].startswith(f"{service.url} does not accept the key")
            assert here("status").stdout.startswith(f"{problem['text']}\n  next: {problem['next_step']}\ndaemon  ")
            assert "Until it does, the coach answers by its own rules." in here("log").stdout
            daemon.signal(signal.SIGTERM)
            _, _, said = daemon.wait()
    assert "does not accept the key" in said


@pytest.mark.process
def test_a_mistake_in_a_file_that_changes_is_in_the_status_until_it_is_fixed(here: CliHere) -> None:
    with here.start():
        (here.home / "nudge.toml").write_text("[spending]\nwindow = 'much'\n")
        until(lambda: here.json("status")["problems"], "the change was noticed")
        assert "nudge.toml, line 2: spending.window" in here("status").stdout.splitlines()[0]
        (here.home / "nudge.toml").write_text("[spending]\nwindow = 30\n")
        until(lambda: not here.json("status")["problems"], "the fix was noticed")


@pytest.mark.process
def test_no_child_of_the_daemon_inherits_a_key_or_an_open_umask(here: CliHere) -> None:
    here.environment |= {"NUDGE_SMTP_URL": "smtp://me:a-secret@127.0.0.1?to=me@example.com", "MINE": "kept"}
    told = here.home / "agents" / "coach" / "workspace" / "told"
    command = f"env > {told}; exit 1"
    here("reminder", "add", "-m", "x", "--at", "2026-01-01T10:00", "--late", "always", "--condition", command)
    before = os.umask(0)
    try:
        with here.start():
            until(told.exists, "the condition was asked")
            until(lambda: "MINE=kept" in told.read_text(), "its environment is written down")
            open_to_others = [path for path in here.home.rglob("*") if path.lstat().st_mode & 0o077]
    finally:
        os.umask(before)
    assert "a-secret" not in told.read_text()
    assert open_to_others == []
