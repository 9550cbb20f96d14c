"""The configuration: one object from three places, with every default in it, and every mistake told with its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.attention.bucket import PingBudget
from nudge.coach.heartbeat import Rhythm
from nudge.daemon.assemble import Options
from nudge.errors import ConfigError
from nudge.home.config import ENVIRONMENT, FIELDS, SECRET_NAMES, SECTIONS, Config, kinds_of
from nudge.home.config_values import found
from nudge.home.env_file import read_env
from nudge.home.folder import Home
from nudge.home.read_config import examine_config, known_secrets, read_config
from nudge.instants import HOUR, MINUTE
from nudge.spending.allowance import MIDNIGHT_UTC, DayTurn
from nudge.spending.budgets import SpendingPlan

UTC = {"TZ": "UTC"}


def read(folder: Path, toml: str = "", env: str = "", environment: Mapping[str, str] = UTC) -> Config:
    write(folder, toml, env)
    return read_config(Home(folder), {**UTC, **environment})


def mistakes(folder: Path, toml: str = "", env: str = "", environment: Mapping[str, str] = UTC) -> list[str]:
    write(folder, toml, env)
    _, found = examine_config(Home(folder), {**UTC, **environment})
    return [str(one).removeprefix(f"{folder}/") for one in found]


def write(folder: Path, toml: str, env: str) -> None:
    (folder / "nudge.toml").write_text(toml, encoding="utf-8")
    (folder / ".env").touch(mode=0o600)
    (folder / ".env").write_text(env)


# What is in force


def test_a_home_without_files_has_the_defaults(tmp_path: Path) -> None:
    assert read_config(Home(tmp_path / "none"), UTC) == Config(Home(tmp_path / "none"))


def test_a_default_is_the_same_wherever_it_is_asked_for() -> None:
    config, options, bucket = Config(Home(Path("/h"))), Options("owner"), PingBudget()
    assert (config.attention.capacity, config.attention.refill_minutes) == (5, 90)
    assert (options.capacity, options.refill_minutes) == (bucket.capacity, bucket.refill_minutes) == (5, 90)
    assert (config.coach.heartbeat, config.coach.longest_silence) == (45 * MINUTE, 3 * HOUR)
    assert Rhythm(*config.coach[:3]) == Rhythm() == options.rhythm
    assert config.spending.plan == SpendingPlan() == options.plan == SpendingPlan(10_000_000, None, "standard")
    assert config.spending.turn == MIDNIGHT_UTC == options.turn
    assert config.spending.routes == options.routes


def test_the_template_shows_every_field_with_its_default(tmp_path: Path) -> None:
    text = (resources.files("nudge.home") / "templates" / "home" / "nudge.toml").read_text()
    assert read(tmp_path, text) == Config(Home(tmp_path))
    uncommented = "\n".join(line.removeprefix("# ") if _is_setting(line) else line for line in text.splitlines())
    shown = tomllib.loads(uncommented)
    config = read(tmp_path, uncommented)
    for section in SECTIONS:
        told = shown.get(section, {})
        for field in kinds_of(section).keys() & told.keys() - {"windows", "upstreams"}:
            assert getattr(getattr(config, section), field) == getattr(SECTIONS[section](), field), field
    rare = {("spending", field) for field in ("models", "tiers", "weights")}  # docs/spending.md
    fields = {(section, field) for section in SECTIONS for field in kinds_of(section)} - rare
    assert fields <= {(section, field) for section in SECTIONS for field in shown.get(section, {})}
    assert shown.keys() == {*FIELDS, *SECTIONS}


def _is_setting(line: str) -> bool:
    return line.startswith(("# [", "# ")) and (line.startswith("# [") or line[2:].split(" = ")[0].isidentifier())


def test_the_env_template_names_every_variable_but_the_addresses_of_services() -> None:
    text = (resources.files("nudge.home") / "templates" / "home" / "env").read_text()
    uncommented = "\n".join(re.findall(r"(?m)^# ([A-Z_]+=.*)$", text))
    assert read_env(uncommented, lambda line, problem: pytest.fail(problem)).keys() == set(SECRET_NAMES)


def test_it_cannot_be_changed_and_shows_no_secret(tmp_path: Path) -> None:
    config = read(tmp_path, env="ANTHROPIC_API_KEY=sk-ant-secret\n")
    with pytest.raises(AttributeError):
        config.model = "offline"  # type: ignore[misc]
    with pytest.raises(TypeError):
        config.environment["ANTHROPIC_API_KEY"] = "x"  # type: ignore[index]
    assert "sk-ant-secret" not in repr(config)
    assert "ANTHROPIC_API_KEY" in repr(config)


@pytest.mark.parametrize(
    ("env", "environment", "value"),
    [
        pytest.param("", {}, None, id="nowhere"),
        pytest.param("ANTHROPIC_API_KEY=file\n", {}, "file", id="in the file"),
        pytest.param("", {"ANTHROPIC_API_KEY": "outside"}, "outside", id="in the environment"),
        pytest.param(
            "ANTHROPIC_API_KEY=file\n", {"ANTHROPIC_API_KEY": "outside"}, "outside", id="the environment wins"
        ),
        pytest.param("ANTHROPIC_API_KEY=file\n", {"ANTHROPIC_API_KEY": ""}, None, id="also if it is empty"),
        pytest.param(
            "ANTHROPIC_API_KEY=bad key\n", {"ANTHROPIC_API_KEY": "good"}, "good", id="what loses is not checked"
        ),
        pytest.param("ANTHROPIC_API_KEY=  file  \n", {}, "file", id="spaces around it"),
    ],
)
def test_the_environment_wins_over_the_file(
    tmp_path: Path, env: str, environment: dict[str, str], value: str | None
) -> None:
    assert read(tmp_path, env=env, environment=environment).environment.get("ANTHROPIC_API_KEY") == value


@pytest.mark.parametrize(
    ("model", "keys", "provider"),
    [
        ("auto", "", None),
        ("auto", "ANTHROPIC_API_KEY=a\n", "anthropic"),
        ("auto", "OPENAI_API_KEY=a\n", None),
        ("offline", "ANTHROPIC_API_KEY=a\n", None),
        ("anthropic", "ANTHROPIC_API_KEY=a\n", "anthropic"),
        ("openai", "ANTHROPIC_API_KEY=a\nOPENAI_API_KEY=b\n", "openai"),
        ("openai", "OPENAI_BASE_URL=http://localhost:11434/v1\n", "openai"),
        ("openai", "ANTHROPIC_API_KEY=a\n", None),
        ("anthropic", "OPENAI_API_KEY=a\n", None),
    ],
)
def test_whose_model_answers(tmp_path: Path, model: str, keys: str, provider: str | None) -> None:
    assert read(tmp_path, f'model = "{model}"\n', keys).provider == provider


@pytest.mark.parametrize(
    ("spending", "expected"),
    [
        pytest.param("", SpendingPlan(10_000_000), id="nothing said"),
        pytest.param('window = "12.50"\nrenews = "2026-12-01"', SpendingPlan(12_500_000, date(2026, 12, 1)), id="both"),
        pytest.param("window = 5\nrenews = 2026-12-01", SpendingPlan(5_000_000, date(2026, 12, 1)), id="unquoted"),
        pytest.param("window = 0.1", SpendingPlan(100_000), id="a tenth is a tenth"),
        pytest.param(
            'tier = "premium"\nwindows.premium = 50', SpendingPlan(50_000_000, None, "premium"), id="a tier's own"
        ),
        pytest.param(
            'tier = "gold"\ntiers.gold = {}', SpendingPlan(10_000_000, None, "gold"), id="a tier of one's own"
        ),
    ],
)
def test_what_the_configuration_grants(tmp_path: Path, spending: str, expected: SpendingPlan) -> None:
    assert read(tmp_path, f"[spending]\n{spending}\n").spending.plan == expected


def test_routes_of_all_tiers_and_of_one(tmp_path: Path) -> None:
    spending = read(
        tmp_path,
        '[spending]\nmodels.summary = "a"\nwindows.silver = 3\n[spending.tiers.premium]\nsummary = "b"\n',
    ).spending
    models = [spending.routes.model(tier, "summary") for tier in ("standard", "premium", "silver")]
    assert models == ["a", "b", "a"]


def test_when_a_day_starts(tmp_path: Path) -> None:
    config = read(tmp_path, '[spending]\nday_starts = "04:30 America/Panama"\n')
    assert config.spending.turn == DayTurn.parse("04:30 America/Panama")


# Mistakes


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("capcity = 3\n", "line 1: capcity: no such field; did you mean attention.capacity?"),
        ("[attention]\ncapcity = 3\n", "line 2: attention.capcity: no such field; did you mean capacity?"),
        ("[attention]\nmodel = 'auto'\n", "attention.model: no such field; did you mean model, above all sections?"),
        ("[atention]\ncapacity = 3\n", "line 1: atention: no such field; did you mean attention?"),
        ("xyz = 1\n", "line 1: xyz: no such field."),
        ("ANTHROPIC_API_KEY = 'x'\n", "line 1: ANTHROPIC_API_KEY: no such field; it belongs in .env."),
        ("attention = 3\n", "line 1: attention: expected a table, written as [attention], found 3."),
        (
            "[[attention]]\ncapacity = 3\n",
            "line 1: attention: expected a table, written as [attention], found [a table].",
        ),
        (
            "[attention]\ncapacity = true\n",
            "attention.capacity: expected a whole number from 1 to 1000000, found true.",
        ),
        ("[attention]\ncapacity = 0\n", "line 2: attention.capacity: expected a whole number"),
        ("[attention]\ncapacity = 3.0\n", "expected a whole number from 1 to 1000000, found 3.0."),
        ("[attention]\nreserve = 'yes'\n", 'attention.reserve: expected true or false, found "yes".'),
        ("[attention]\nping_budget = false\n", 'attention.ping_budget: expected "on" or "off", found false.'),
        ("[log]\nlevel = 'loud'\n", 'log.level: expected "debug", "info", "warning" or "error", found "loud".'),
        ("model = ['auto']\n", 'expected "auto", "offline", "anthropic" or "openai", found ["auto"].'),
        (
            "[telegram]\nallow = [true]\n",
            "telegram.allow[0]: expected a numeric user id such as 123456789, found true.",
        ),
        ("[telegram]\nallow = [\n  12,\n  -3,\n]\n", "line 4: telegram.allow[1]: expected a numeric user id"),
        (
            "[telegram]\nallow = 12\n",
            "telegram.allow: expected a list of numeric user ids such as [123456789], found 12.",
        ),
        ("[spending]\nwindow = nan\n", "spending.window: expected an amount of dollars"),
        ("[spending]\nwindow = -1\n", "line 2: spending.window: expected an amount of dollars"),
        ("[spending]\nwindows.premium = 'much'\n", "line 2: spending.windows.premium: expected an amount of dollars"),
        ("[spending]\nrenews = 2026-12-01T10:00:00Z\n", "spending.renews: expected a date"),
        ("[spending]\nalert_to = ['a']\n", 'spending.alert_to: expected text in quotes, found ["a"].'),
        ("[spending]\ntiers.gold = 3\n", "spending.tiers.gold: expected a table of purposes and models, found 3."),
        ("[spending]\nweights.haiku = []\n", "spending.weights.haiku: expected a number, found []."),
        ("a = 1\na = 2\n", "line 2: not valid TOML: Cannot overwrite a value."),
    ],
)
def test_a_mistake_names_line_and_field_what_was_expected_and_what_was_found(
    tmp_path: Path, toml: str, said: str
) -> None:
    (mistake,) = mistakes(tmp_path, toml)
    assert mistake.startswith("nudge.toml, line ")
    assert said in mistake


def test_all_mistakes_are_found_in_the_order_of_their_lines(tmp_path: Path) -> None:
    toml = "[spending]\ntier = 'gold'\nrenews = 'soon'\n[attention]\ncapacity = 0\nrefill_minutes = 0\n[x]\n"
    lines = [mistake.partition(":")[0] for mistake in mistakes(tmp_path, toml)]
    assert lines == [f"nudge.toml, line {number}" for number in (2, 3, 5, 6, 7)]
    with pytest.raises(ConfigError) as caught:
        read_config(Home(tmp_path), UTC)
    assert len(caught.value.message.splitlines()) == 5
    assert caught.value.next_step == "Fix these 5, then run 'nudge config check'."


def test_a_tier_whose_models_have_a_mistake_is_not_a_second_one(tmp_path: Path) -> None:
    assert len(mistakes(tmp_path, "[spending]\ntier = 'gold'\ntiers.gold = {works = 'm'}\n")) == 1


def test_what_is_right_counts_beside_a_mistake(tmp_path: Path) -> None:
    write(tmp_path, "[attention]\ncapacity = 7\nreserve = 3\n", "")
    config, found = examine_config(Home(tmp_path), UTC)
    assert (config.attention.capacity, config.attention.reserve, len(found)) == (7, True, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"\xff\n", "nudge.toml, line 1: not UTF-8 text.", id="bytes that are no text"),
        pytest.param(b"# " + b"x" * 2_000_000, "is larger than 1,000,000 bytes.", id="two megabytes"),
        pytest.param(b"a = " + b"[" * 20_000, "nudge.toml: nested too deeply.", id="brackets without end"),
    ],
)
def test_a_file_that_cannot_be_one_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    write(tmp_path, "", "")
    (tmp_path / "nudge.toml").write_bytes(content)
    _, (mistake,) = examine_config(Home(tmp_path), UTC)
    assert said in str(mistake)


def test_a_file_may_begin_with_the_mark_of_an_editor(tmp_path: Path) -> None:
    assert read(tmp_path, '\ufefftimezone = "Asia/Tokyo"\n').timezone == "Asia/Tokyo"


def test_a_value_of_the_environment_is_named_and_not_shown(tmp_path: Path) -> None:
    told = mistakes(tmp_path, environment={"OPENAI_API_KEY": "s3cret key", "NUDGE_HEALTHCHECK_URL": "s3cret"})
    assert told == [
        "environment: OPENAI_API_KEY must be a key without spaces.",
        "environment: NUDGE_HEALTHCHECK_URL must be an address that begins with https:// or http://.",
    ]


def test_secrets_are_known_whatever_else_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "broken", "NUDGE_SMTP_URL=smtp://me:from-the-file@h\nOPENAI_API_KEY=no key at all\n?\n")
    monkeypatch.setenv("NUDGE_SMTP_URL", "smtp://me:from-outside@h")
    assert {"from-the-file", "from-outside", "no key at all"} <= set(known_secrets(Home(tmp_path)))


_toml_values = st.recursive(
    st.one_of(st.booleans(), st.integers(-(10**6), 10**6), st.text(max_size=8), st.dates(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


@pytest.mark.parametrize("section", SECTIONS)
@given(data=st.data())
def test_no_value_is_too_strange_to_be_told(section: str, data: st.DataObject) -> None:
    """Whatever stands in a field, it is read or reported."""
    for field, kind in kinds_of(section).items():
        value: Any = data.draw(_toml_values)
        problems: list[str] = []
        read = kind.check(value, (section, field), lambda path, problem: problems.append(problem))  # noqa: B023
        assert problems or kind.check(kind.write(read), (), lambda path, problem: pytest.fail(problem)) == read


@given(_toml_values)
def test_what_was_found_is_shown_in_one_short_line(value: Any) -> None:
    assert len(found(value)) <= 61


# The .env file


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("A=x", "x", id="plain"),
        pytest.param("  export A = x  ", "x", id="as a shell has it"),
        pytest.param("A=x # why", "x", id="a comment"),
        pytest.param("A=x#y", "x#y", id="a # inside is no comment"),
        pytest.param("A='x # y'", "x # y", id="quoted"),
        pytest.param('A="x y" # why', "x y", id="quoted, with a comment behind"),
        pytest.param("A='it\"s'", 'it"s', id="the other quote inside"),
        pytest.param("A=", "", id="empty"),
        pytest.param('A=""', "", id="empty in quotes"),
        pytest.param("A=x=y", "x=y", id="an equals sign inside"),
        pytest.param("# a note\r\n\r\nA=x\r\n", "x", id="lines that end as on Windows"),
    ],
)
def test_a_value_of_the_env_file(text: str, value: str) -> None:
    told = read_env(text, lambda line, problem: pytest.fail(problem))
    assert {name: one.value for name, one in told.items()} == {"A": value}


@pytest.mark.parametrize("text", ["A", "=x", "A B=x", "1A=x", "A='x", "A=\"x' # y", "A='x' y"])
def test_what_is_no_value_is_named_by_its_line_alone(tmp_path: Path, text: str) -> None:
    (mistake,) = mistakes(tmp_path, env=f"# the first\n{text}-s3cret\n")
    assert mistake.startswith(".env, line 2: ")
    assert "s3cret" not in mistake


def test_every_secret_is_a_name_that_is_read() -> None:
    assert set(SECRET_NAMES) <= set(ENVIRONMENT)
