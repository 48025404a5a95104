"""The OpenAPI document holds: whatever it allows is answered as it says, and never with a failure."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.server.running import Running

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.slow
def test_schemathesis_finds_no_failure_and_no_breach(service: Running, tmp_path: Path) -> None:
    command = Path(sysconfig.get_path("scripts")) / "schemathesis"
    if not command.exists():
        pytest.skip("needs schemathesis")
    done = subprocess.run(
        [
            *(sys.executable, str(command), "run", f"{service.url}/spec", "--checks", CHECKS),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", "12", "--seed", "1"),
            *("--generation-database", "none", "--request-timeout", "60", "--suppress-health-check", "all"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert not service.events("request failed")


def test_every_route_is_described(service: Running) -> None:
    document = service.get("/spec").json()
    expected = {
        *("/translate", "/languages", "/detect", "/translate_file", "/download_file/{name}", "/suggest"),
        *("/frontend/settings", "/health", "/v2/translate", "/v2/languages", "/v2/usage", "/v2/glossaries"),
        *("/v2/glossaries/{id}", "/v2/glossaries/{id}/entries", "/v3/glossaries", "/api/attention", "/api/score"),
        *("/api/interventions", "/api/numbers", "/api/beam", "/api/training", "/metrics"),
    }
    assert expected <= document["paths"].keys()
    content = document["paths"]["/translate"]["post"]["requestBody"]["content"]
    assert content["application/json"]["schema"]["required"] == ["q", "source", "target"]
