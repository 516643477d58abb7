"""Writes docs/reference/envelope-vectors.json: signed envelopes made without any code of this repository.

Needs the package `cryptography`. The canonical form is written here a second time, from RFC 8785, for the values below:
strings, booleans, null, whole numbers, and fractions whose shortest form is the same in Python and ECMAScript.
"""

import base64
import json
import pathlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def canonical(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def vector(title, payload, timestamp, seconds):
    token = "header.payload.signature"
    text = canonical({"payload": payload, "security_token": token, "timestamp": seconds})
    return {
        "title": title,
        "envelope": {
            "protocol": "seal/v1",
            "security_token": token,
            "signature": base64.b64encode(key.sign(text.encode())).decode(),
            "timestamp": timestamp,
            "payload": payload,
            "metadata": {"execution_id": "3f2b8c1e-0000-4000-8000-000000000001"},
        },
        "canonical": text,
    }


def call(arguments, name="fs.read", **more):
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}, **more}


key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
vectors = [
    vector("seconds", call({"path": "/workspace/a.txt"}), 1767225600, 1767225600),
    vector("ISO 8601 in UTC", call({"path": "/workspace/a.txt"}), "2026-01-01T00:00:00Z", 1767225600),
    vector("ISO 8601 with a zone and a fraction", call({"path": "a"}), "2026-01-01T02:00:00.999+02:00", 1767225600),
    vector("names out of order", call({"b": 1, "a": {"d": [], "c": {}}, "": None, "A": True}), 1767225600, 1767225600),
    vector("names beyond the basic plane", call({"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "\u00f6": 4}), 1767225600, 1767225600),
    vector("text that needs escapes", call({"t": "\u0000\u0008\t\n\f\r\"\\/\u001f\u007f\u2028\u00e9"}), 1767225600, 1767225600),
    vector("numbers", call({"n": [0, -1, 0.5, 1.25, 9007199254740991, -0.001]}), 1767225600, 1767225600),
    vector("no arguments and no id", {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "svc.tools.list"}}, 1767225600, 1767225600),
]
document = {
    "description": "Envelopes of the protocol seal/v1 with the bytes that their signatures are over (docs/tools.md). "
    "The private key is the 32 bytes 00 01 02 to 1f; the token is no real one.",
    "private_key_hex": bytes(range(32)).hex(),
    "public_key_b64": base64.b64encode(public).decode(),
    "vectors": vectors,
}
target = pathlib.Path(__file__).parents[2] / "docs/reference/envelope-vectors.json"
target.write_text(json.dumps(document, indent=2) + "\n")
