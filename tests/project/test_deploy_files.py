"""What is needed to run it on a server, checked without Docker: nothing missing, nothing secret, nothing writable."""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nudge.cli.table import COMMANDS

ROOT = Path(__file__).parents[2]
SECRET = re.compile(r"(?i)\b\w*(?:key|token|secret|password|passwd)\w*\s*[=:]\s*\S")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile as (instruction, rest), comments left out and continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined.splitlines()]


def stages() -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    for name, rest in instructions():
        if name == "FROM":
            found.append([])
        found[-1].append((name, rest))
    return found


def one(stage: list[tuple[str, str]], wanted: str) -> str:
    (rest,) = [rest for name, rest in stage if name == wanted]
    return rest


# The image


def test_every_instruction_is_one_that_docker_knows() -> None:
    known = {
        "FROM",
        "ENV",
        "RUN",
        "COPY",
        "VOLUME",
        "WORKDIR",
        "USER",
        "HEALTHCHECK",
        "STOPSIGNAL",
        "ENTRYPOINT",
        "CMD",
    }
    assert {name for name, _ in instructions()} <= known


def test_both_stages_stand_on_the_same_pinned_slim_python() -> None:
    build, run = stages()
    images = [one(stage, "FROM").split()[0] for stage in (build, run)]
    assert images[0] == images[1]
    version = re.fullmatch(r"python:3\.(\d+)-slim-\w+", images[0])
    assert version
    assert int(version[1]) >= 11
    assert one(build, "FROM").endswith("AS build")


def test_it_does_not_run_as_root_and_needs_nothing_writable_but_its_volumes() -> None:
    _, run = stages()
    user = one(run, "USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    assert [name for name, _ in run].index("USER") > max(n for n, (name, _) in enumerate(run) if name == "RUN")
    assert one(run, "VOLUME") == '["/data", "/config"]'
    environment = dict(part.split("=", 1) for part in one(run, "ENV").split())
    assert environment["NUDGE_HOME"] == environment["HOME"] == "/data"
    assert environment["PYTHONDONTWRITEBYTECODE"] == "1"
    assert "compileall" in " ".join(rest for _, rest in stages()[0])


def test_signals_reach_the_daemon_and_its_health_is_asked() -> None:
    _, run = stages()
    assert one(run, "ENTRYPOINT") == '["/usr/local/bin/entrypoint"]'
    assert one(run, "CMD") == '["nudge", "run"]'
    assert one(run, "HEALTHCHECK").endswith('CMD ["nudge", "status"]')
    assert (ROOT / "deploy" / "entrypoint").read_text().rstrip().endswith('exec "$@"')


def test_dependencies_are_the_locked_ones() -> None:
    build, _ = stages()
    installs = [rest for name, rest in build if name == "RUN" and "pip install" in rest]
    assert "--require-hashes -r /src/requirements/run.txt" in installs[0]
    assert "--no-deps" in installs[1]


def allowed(path: str) -> bool:
    """Whether .dockerignore lets a path into the build: everything is out but what is named."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    named = [line[1:] for line in lines if line.startswith("!")]
    assert "*" in lines
    return any(path == name or path.startswith(f"{name}/") for name in named)


def copied() -> list[str]:
    sources = []
    for name, rest in instructions():
        words = [word for word in shlex.split(rest) if not word.startswith("--")]
        if name == "COPY" and "--from=" not in rest:
            sources += words[:-1]
    return sources


@pytest.mark.parametrize("path", copied())
def test_what_is_copied_is_there_and_let_in(path: str) -> None:
    assert (ROOT / path).exists()
    assert allowed(path)


@pytest.mark.parametrize("path", [".env", "nudge.db", ".git", ".nudge/.env", "tests", ".venv", "logs/nudge.log"])
def test_what_must_not_get_near_the_build_is_left_out(path: str) -> None:
    assert not allowed(path)


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "deploy/nudge.service", "deploy/entrypoint"])
def test_there_are_no_secrets_in_it(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert SECRET.search(text) is None
    assert not re.search(r"sk-ant|\d{6,}:[A-Za-z0-9_-]{20,}", text)
    assert "ADD " not in text


# Compose


@pytest.fixture
def service() -> dict[str, Any]:
    compose = YAML(typ="safe").load(ROOT / "compose.yaml")
    assert set(compose["volumes"]) == {"nudge-data", "nudge-config"}
    (name,) = compose["services"]
    assert name == "nudge"
    found: dict[str, Any] = compose["services"][name]
    return found


def test_the_service_is_read_only_with_two_volumes_and_starts_again(service: dict[str, Any]) -> None:
    assert service["image"] == "nudge:latest"
    assert service["read_only"] is True
    assert service["volumes"] == ["nudge-data:/data", "nudge-config:/config:ro"]
    assert service["tmpfs"] == ["/tmp"]
    assert service["restart"] == "unless-stopped"


def test_the_service_opens_no_port_and_can_gain_no_rights(service: dict[str, Any]) -> None:
    assert not {"ports", "expose", "privileged", "network_mode", "devices", "environment", "env_file"} & set(service)
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


# The entry point


def enter(home: Path, config: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    environment = {"PATH": path, "NUDGE_HOME": str(home), "NUDGE_CONFIG": str(config), "HOME": str(home)}
    script = str(ROOT / "deploy" / "entrypoint")
    return subprocess.run([script, *command], env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.process
def test_the_files_of_config_take_their_place_in_the_home(tmp_path: Path) -> None:
    home, config = tmp_path / "data", tmp_path / "config"
    coach = home / "agents" / "coach"
    home.mkdir()
    config.mkdir()
    first = enter(home, config, "echo", "runs", "with two words")
    assert (first.returncode, first.stdout, first.stderr) == (0, "runs with two words\n", "")
    assert "# Coach" in (coach / "AGENTS.md").read_text()
    (coach / "AGENTS.md").write_text("Mine.")
    (config / "AGENTS.md").write_text("You are a pirate.")
    (config / ".env").write_text("# keys\n")
    (config / ".env").chmod(0o600)
    for _ in range(2):
        assert enter(home, config, "nudge", "config", "check").returncode == 0
    assert (coach / "AGENTS.md").read_text() == "You are a pirate."
    assert (coach / "AGENTS.md.before-config").read_text() == "Mine."
    assert (home / ".env").readlink() == config / ".env"
    (config / "AGENTS.md").unlink()
    assert enter(home, config, "true").returncode == 0
    assert "# Coach" in (coach / "AGENTS.md").read_text()  # a link that leads nowhere is replaced by the template


@pytest.mark.process
def test_a_home_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the home should be")
    done = enter(tmp_path / "data", tmp_path, "echo", "runs")
    assert done.returncode != 0
    assert "runs" not in done.stdout
    assert "home" in done.stderr


# The systemd unit


@pytest.fixture
def unit() -> dict[str, list[str]]:
    """The options of [Service]; one that is given twice has two values."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in (ROOT / "deploy" / "nudge.service").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("User", "nudge"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateDevices", "yes"),
        ("CapabilityBoundingSet", ""),
        ("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6"),
        ("RestrictNamespaces", "yes"),
        ("RestrictSUIDSGID", "yes"),
        ("LockPersonality", "yes"),
        ("ProtectKernelModules", "yes"),
        ("SystemCallArchitectures", "native"),
        ("UMask", "0077"),
        ("StateDirectory", "nudge"),
        ("StateDirectoryMode", "0700"),
        ("Restart", "on-failure"),
        ("RestartPreventExitStatus", "4 7"),
    ],
)
def test_the_unit_is_hardened(unit: dict[str, list[str]], option: str, value: str) -> None:
    assert unit[option] == [value]


def test_the_unit_has_the_home_where_it_may_write(unit: dict[str, list[str]]) -> None:
    assert "NUDGE_HOME=/var/lib/nudge" in unit["Environment"]
    assert unit["ExecStart"] == ["/opt/nudge/bin/nudge run"]
    assert "@system-service" in unit["SystemCallFilter"]


def test_the_unit_is_a_well_formed_file() -> None:
    parser = RawConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(ROOT / "deploy" / "nudge.service", encoding="utf-8")
    assert parser.sections() == ["Unit", "Service", "Install"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["verify"], id="it is understood"),
        pytest.param(["security", "--offline=true", "--threshold=20"], id="its exposure is at most 2.0 of 10"),
    ],
)
def test_systemd_takes_the_unit(tmp_path: Path, command: list[str]) -> None:
    unit = tmp_path / "nudge.service"
    there = (ROOT / "deploy" / "nudge.service").read_text().replace("/opt/nudge/bin/nudge", "/bin/true")
    unit.write_text(there)  # it insists on a program that exists
    done = subprocess.run(["systemd-analyze", *command, str(unit)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# The page


PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL))
def test_what_the_page_tells_you_to_type_is_shell(block: str) -> None:
    done = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_page_names_commands_and_files_that_exist() -> None:
    for command in re.findall(r"bin/nudge (\w+)|nudge nudge (\w+)|`nudge (\w+)`", PAGE):
        (name,) = [word for word in command if word]
        assert name in {one.split()[0] for one in COMMANDS}
    for path in re.findall(r"\((\w[\w-]*\.md)\)", PAGE):
        assert (ROOT / "docs" / path).exists()
    for path in ("deploy/nudge.service", "requirements/run.txt"):
        assert path in PAGE
        assert (ROOT / path).exists()


def test_the_backup_of_the_page_works_on_a_database_in_use(tmp_path: Path) -> None:
    code = re.search(r"-c \\\n  '(import sqlite3.*?)' \\", PAGE)
    assert code
    database = sqlite3.connect(tmp_path / "nudge.db")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE kept (word TEXT)")
    database.execute("INSERT INTO kept VALUES ('still in the log')")
    database.commit()
    copy = tmp_path / "backup.db"
    subprocess.run([sys.executable, "-c", code[1], str(tmp_path / "nudge.db"), str(copy)], check=True)
    database.close()
    with sqlite3.connect(copy) as restored:
        assert restored.execute("SELECT word FROM kept").fetchall() == [("still in the log",)]
    restored.close()


def test_the_page_leads_through_the_phones_automation() -> None:
    steps = PAGE.partition("(iOS)")[2].partition("\n## ")[0]
    assert [line[0] for line in steps.splitlines() if re.match(r"\d\.", line)] == ["1", "2", "3", "4", "5"]
    for word in ("Shortcuts", "Automation", "unlocked", "`/ping`", "throttle"):
        assert word in steps
