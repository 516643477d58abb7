"""Signs one call of a tool (docs/gateway.md). usage: python sign.py KEY.pem TOKEN EXECUTION_ID TOOL '{"argument":1}'

Needs the packages cryptography and rfc8785.
"""

import base64
import json
import sys
import time
import uuid

import rfc8785
from cryptography.hazmat.primitives.serialization import load_pem_private_key


def envelope(key, token, execution_id, tool, arguments):
    """The signed call, as POST /v1/invoke takes it."""
    # Equal calls of one second are one call, so that each has an id of its own.
    call_id, params = str(uuid.uuid4()), {"name": tool, "arguments": arguments}
    payload = {"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": params}
    timestamp = int(time.time())
    signed = rfc8785.dumps({"payload": payload, "security_token": token, "timestamp": timestamp})
    signature = base64.b64encode(key.sign(signed)).decode()
    return {"protocol": "seal/v1", "security_token": token, "signature": signature, "timestamp": timestamp,
            "payload": payload, "metadata": {"execution_id": execution_id}}


if __name__ == "__main__":
    if len(sys.argv) < 5:
        print("usage: python sign.py KEY.pem TOKEN EXECUTION_ID TOOL [ARGUMENTS]", file=sys.stderr)
        sys.exit(2)
    key_file, security_token, execution, name, *rest = sys.argv[1:]
    with open(key_file, "rb") as file:
        private_key = load_pem_private_key(file.read(), password=None)
    print(json.dumps(envelope(private_key, security_token, execution, name, json.loads(rest[0] if rest else "{}"))))
