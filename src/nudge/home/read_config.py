"""Read nudge.toml, `.env` and the environment into one `Config`. A mistake is told with its file, line and field, with
what was expected and what was found, and all of them at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nudge.errors import ConfigError, UsageError
from nudge.home.config import (
    ENVIRONMENT,
    FIELDS,
    SECTIONS,
    Config,
    Environment,
    kinds_of,
    secrets_of,
)
from nudge.home.config_values import ZONE, KeyPath, Kind, Report, found, meant
from nudge.home.env_file import EnvLine, read_env
from nudge.home.folder import Home
from nudge.home.private_files import read_trusted
from nudge.home.timezone import goals_timezone, machine_timezone
from nudge.instants import zone_of

_LAST = 10**9  # what stands in no line comes after what does

FIX_LINE = "Fix that line, then run 'nudge config check'."


class Mistake(NamedTuple):
    """One thing that is wrong. `source` is the file, or "environment"; line 0 is the whole of it."""

    source: str
    line: int
    field: str
    problem: str
    next_step: str = FIX_LINE

    def __str__(self) -> str:
        where = f"{self.source}, line {self.line}" if self.line else self.source
        text = ": ".join(part for part in (where, self.field, self.problem) if part)
        return text if text.endswith("?") else f"{text}."


def read_config(home: Home, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration of a home. Raises ConfigError with all mistakes that there are. A home that does not exist yet
    has the defaults."""
    config, mistakes = examine_config(home, environment)
    if mistakes:
        raise error_of([(str(one), one.next_step) for one in mistakes])
    return config


def examine_config(home: Home, environment: Mapping[str, str] | None = None) -> tuple[Config, list[Mistake]]:
    """The configuration, with the default of each field that has a mistake, and the mistakes."""
    outside = os.environ if environment is None else environment
    reading = _Reading()
    told = reading.toml(home.config)
    zone = told.pop("timezone", "")
    config = Config(
        home,
        reading.environment(home.env_file, outside),
        reading.timezone(home, zone, outside),
        zone,
        **told,
    )
    return config, reading.mistakes


def error_of(problems: Sequence[tuple[str, str | None]]) -> ConfigError:
    """Problems with their next steps as one error, a line for each."""
    if len(problems) == 1:
        return ConfigError(problems[0][0], next_step=problems[0][1])
    lines = [text if step in (None, FIX_LINE) else f"{text} {step}" for text, step in problems]
    return ConfigError("\n".join(lines), next_step=f"Fix these {len(problems)}, then run 'nudge config check'.")


def known_secrets(home: Home) -> tuple[str, ...]:
    """The secrets of a home whatever else is wrong with it, for whoever must not show them."""
    reading = _Reading()
    in_file = reading.told(home.env_file, {})
    in_force = reading.told(home.env_file, os.environ)
    return (
        *secrets_of({name: told.value for name, told in in_file.items()}),
        *secrets_of({name: told.value for name, told in in_force.items()}),
    )


def env_file_names(home: Home) -> dict[str, int]:
    """The names in `.env`, each with its line."""
    return {name: told.line for name, told in _Reading().told(home.env_file, {}).items()}


def dotted(path: KeyPath) -> str:
    """A path as people write it.

    >>> dotted(("telegram", "allow", 0))
    'telegram.allow[0]'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


class _Reading:
    """Collects the mistakes of all three places."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def _text(self, path: Path, *, private: bool = False) -> str:
        """Empty where there is no such file."""
        try:
            return read_trusted(path, private=private)
        except FileNotFoundError:
            return ""
        except ConfigError as error:
            mistake = Mistake("", 0, "", error.message.removesuffix("."), error.next_step or FIX_LINE)
            if mistake not in self.mistakes:  # a folder that others can write is found with each of its files
                self.mistakes.append(mistake)
            return ""

    def toml(self, path: Path) -> dict[str, Any]:
        """The fields that the file has and that are right, by the names of `Config`."""
        import tomllib
        from decimal import Decimal

        text = self._text(path)
        try:
            table = tomllib.loads(text, parse_float=Decimal)
        except tomllib.TOMLDecodeError as error:
            problem, _, place = str(error).partition(" (at ")
            line = place.removeprefix("line ").partition(",")[0]
            last = text.count("\n") + 1
            self.mistakes.append(
                Mistake(str(path), int(line) if line.isdigit() else last, "", f"not valid TOML: {problem}")
            )
            return {}
        except RecursionError:
            self.mistakes.append(Mistake(str(path), 0, "", "nested too deeply", "Check the file."))
            return {}
        problems: list[tuple[KeyPath, str]] = []
        fields = _read_fields(table, lambda keys, problem: problems.append((keys, problem)))
        if problems:  # nobody looks for the lines of a file without a mistake
            from nudge.home.toml_lines import key_lines, line_of

            lines = key_lines(text)
            found = [Mistake(str(path), line_of(lines, keys) or 0, dotted(keys), problem) for keys, problem in problems]
            self.mistakes += sorted(found, key=lambda one: one.line)
        return fields

    def told(self, env_file: Path, outside: Mapping[str, str]) -> dict[str, EnvLine]:
        """What `.env` and the environment say, by name; the environment has line 0. An empty value there counts: it
        takes back what `.env` says."""
        told = read_env(
            self._text(env_file, private=True),
            lambda line, problem: self.mistakes.append(Mistake(str(env_file), line, "", problem)),
        )
        told.update({name: EnvLine(outside[name], 0) for name in ENVIRONMENT if name in outside})
        return told

    def environment(self, env_file: Path, outside: Mapping[str, str]) -> Environment:
        values = {}
        before = len(self.mistakes)
        told = self.told(env_file, outside)
        for name, kind in ENVIRONMENT.items():
            value, line = told.get(name, EnvLine("", 0))
            if not value.strip():
                continue
            try:
                values[name] = kind.read(value.strip())
            except ValueError:  # what was found may be a key and is not shown; "KEY: word" would be hidden as one
                source = str(env_file) if line else "environment"
                self.mistakes.append(Mistake(source, line, "", f"{name} must be {kind.expected}"))
        self.mistakes[before:] = sorted(self.mistakes[before:], key=lambda one: one.line or _LAST)
        return Environment(values)

    def timezone(self, home: Home, told: str, outside: Mapping[str, str]) -> str:
        """The zone in force. One of GOALS.md that is none is the coach's to report; here the next one counts."""
        if zone := goals_timezone(home.agent("coach") / "GOALS.md") or told:
            return zone
        machine = machine_timezone(outside)
        try:
            zone_of(machine)
        except UsageError:
            problem = f"expected {ZONE.expected}, found {found(machine)}"
            step = "Set timezone in nudge.toml, or TZ to an IANA name."
            self.mistakes.append(Mistake("environment", 0, "TZ", problem, step))
            return "UTC"
        return machine


def _read_fields(table: Mapping[str, Any], report: Report) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, value in table.items():
        if name in FIELDS:
            _take(FIELDS[name], value, (name,), report, read)
        elif name not in SECTIONS:
            report((name,), _unknown("", name))
        elif not isinstance(value, Mapping):
            report((name,), f"expected a table, written as [{name}], found {found(value)}")
        else:
            read[name] = _read_section(name, value, report)
    return read


def _read_section(section: str, table: Mapping[str, Any], report: Report) -> Any:
    fields = kinds_of(section)
    read: dict[str, Any] = {}
    for name, value in table.items():
        if name in fields:
            _take(fields[name], value, (section, name), report, read)
        else:
            report((section, name), _unknown(section, name))
    if "tier" in read:
        _check_tier(read["tier"], table, report)
    return SECTIONS[section](**read)


def _check_tier(tier: str, spending: Mapping[str, Any], report: Report) -> None:
    """A tier exists if it is one of ours, or if the person gave it models or a window."""
    from nudge.spending.routing import PREMIUM, STANDARD

    own = [table for table in (spending.get("tiers"), spending.get("windows")) if isinstance(table, Mapping)]
    known = dict.fromkeys((STANDARD, PREMIUM, *(name for table in own for name in table)))
    if tier not in known:
        told = ", ".join(known)
        report(("spending", "tier"), f"expected one of {told}, or a tier under [spending.tiers], found {found(tier)}")


def _take(kind: Kind, value: Any, path: tuple[str, ...], report: Report, read: dict[str, Any]) -> None:
    problems: list[tuple[KeyPath, str]] = []
    taken = kind.check(value, path, lambda where, problem: problems.append((where, problem)))
    if not problems:
        read[path[-1]] = taken
    for where, problem in problems:
        report(where, problem)


def _unknown(section: str, name: str) -> str:
    """Says of a name that is not known which one was meant: a key for .env, one of this section, one of another."""
    if name.upper() in ENVIRONMENT:
        return "no such field; it belongs in .env"
    here = [*kinds_of(section)] if section else [*FIELDS, *SECTIONS]
    if close := meant(name, here):
        return f"no such field; did you mean {close}?"
    elsewhere = {field: f"{where}.{field}" for where in SECTIONS for field in kinds_of(where)}
    elsewhere |= {field: f"{field}, above all sections" for field in FIELDS}
    close = meant(name, elsewhere)
    return f"no such field; did you mean {elsewhere[close]}?" if close else "no such field"
