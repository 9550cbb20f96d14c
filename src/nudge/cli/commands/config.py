"""Commands about the configuration: where it is, what is in force, whether it is right."""

from __future__ import annotations

import argparse
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import out, out_json, out_raw
from nudge.cli.report import report
from nudge.errors import ConfigError
from nudge.home.folder import Home


def path_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def path(args: argparse.Namespace) -> int:
    """Show where the home and its files are."""
    home = Home.find(given=args.home)
    paths = {
        "home": home.path,
        "config": home.config,
        "secrets": home.env_file,
        "roles": home.roles,
        "database": home.database,
        "logs": home.logs,
        "socket": home.socket,
    }
    if args.json:
        out_json({name: {"path": str(path), "exists": path.exists()} for name, path in paths.items()})
    else:
        for name, path in paths.items():
            out(f"{name:<10}{path}{'' if path.exists() else '  (not there)'}", hang=10)
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def show(args: argparse.Namespace) -> int:
    """Show the settings in use: nudge.toml with all defaults. Secrets only show whether they are set."""
    from nudge.home.config import FIELDS, SECRET_NAMES, SECTIONS, kinds_of

    config = Context(args).config
    fields = {name: kind.write(getattr(config, name)) for name, kind in FIELDS.items()}
    sections: dict[str, dict[str, Any]] = {
        section: {name: kind.write(getattr(getattr(config, section), name)) for name, kind in kinds_of(section).items()}
        for section in SECTIONS
    }
    secrets = {name: "set" if name in config.environment else "not set" for name in SECRET_NAMES}
    if args.json:
        out_json({"config": {**fields, **sections}, "secrets": secrets})
        return 0
    for name, value in fields.items():
        out_raw(f"{name} = {_toml(value)}")
    for section, values in sections.items():
        out(f"\n[{section}]")
        for name, value in values.items():
            out_raw(f"{name} = {_toml(value)}")
    out("\n# Secrets, from .env and the environment:")
    for name, state in secrets.items():
        out(f"# {name}: {state}")
    return 0


def _toml(value: object) -> str:
    import json

    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def check(args: argparse.Namespace) -> int:
    """Check nudge.toml, .env, prices and all roles: would 'nudge run' start? Lists all mistakes with their lines.

    Exits with 4 if there are errors.
    """
    from nudge.daemon.checks import examine
    from nudge.daemon.config_checks import CONFIG_CHECKS
    from nudge.daemon.findings import Subject

    context = Context(args)
    findings = examine(Subject(context.home, context.now), CONFIG_CHECKS)
    return 0 if report(findings, json=args.json, colour=context.colour) else ConfigError.exit_code
