"""A bootstrap for agents' containers, written from sections 4.4 and 4.5 of the specification alone.

usage: bootstrap.py BASE_URL AGENT_ID EXECUTION_ID CONTAINER_ID MODEL_ALIAS

Attests, asks for work, runs what it is sent, reports, and prints what it saw as one JSON document.
"""

import json
import subprocess
import sys
import time
import urllib.request

base_url, agent_id, execution_id, container_id, model_alias = sys.argv[1:6]
# The public key of test 1 of RFC 8032, section 7.1.
public_key = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="


def post(path, body):
    request = urllib.request.Request(
        base_url + path,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.loads(response.read())


def run(dispatch):
    started = time.monotonic()
    done = subprocess.run(
        [dispatch["command"], *dispatch["args"]],
        cwd=dispatch["cwd"],
        env={"PATH": "/usr/bin:/bin", **dispatch["env_additions"]},
        timeout=dispatch["timeout_secs"],
        capture_output=True,
        check=False,
    )
    most = dispatch["max_output_bytes"]
    return {
        "type": "dispatch_result",
        "execution_id": execution_id,
        "dispatch_id": dispatch["dispatch_id"],
        "exit_code": done.returncode,
        "stdout": done.stdout[:most].decode(errors="replace"),
        "stderr": done.stderr[:most].decode(errors="replace"),
        "duration_ms": int((time.monotonic() - started) * 1000),
        "truncated": len(done.stdout) > most or len(done.stderr) > most,
    }


session = post(
    "/v1/seal/attest",
    {
        "agent_id": agent_id,
        "execution_id": execution_id,
        "container_id": container_id,
        "agent_public_key": public_key,
    },
)
generate = {
    "type": "generate",
    "agent_id": agent_id,
    "execution_id": execution_id,
    "iteration_number": 1,
    "model_alias": model_alias,
    "prompt": "Be brief.",
    "messages": [{"role": "user", "content": "The files are in /data."}],
}
answers = []
question = generate
while not answers or answers[-1]["type"] != "final":
    answers.append(post("/v1/dispatch-gateway", question))
    if answers[-1]["type"] == "dispatch":
        question = run(answers[-1])
print(json.dumps({"session": session, "answers": answers}))
