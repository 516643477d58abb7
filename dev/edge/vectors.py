"""Writes docs/reference/edge-vectors.json: signed messages of edge mode made without any code of this repository.

Needs the package `cryptography`. The bytes of protobuf are written here by hand.
"""

import hashlib
import json
import pathlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

NODE = "5f0c2c5e-7d54-8a53-9d64-0c5a4c0f0001"
STREAM = "0b54ef1e-9d5d-4f6a-8b8e-000000000001"
COMMAND = "7b1a7c0e-58f4-8d30-a0de-000000000002"
TOKEN = "header.payload.signature"
SECONDS = 1_790_000_000


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    """A field of bytes, text, or a whole number above 0."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def signed(domain, stream_id, sequence, rest):
    return domain.encode() + b"\0" + stream_id.encode() + sequence.to_bytes(8, "big") + hashlib.sha256(rest).digest()


def envelope(key, token, sequence, signature):
    stamp = field(3, signature) + field(4, field(1, SECONDS)) + field(5, sequence)
    return field(1, NODE) + (field(2, token) if token else b"") + stamp


def raw(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def vector(title, kind, domain, key, stream_id, sequence, rest, number, wrap=None):
    token = "" if kind == "command" else TOKEN
    covered = signed(domain, stream_id, sequence, rest)
    signature = key.sign(covered)
    message = rest + field(number, envelope(key, token, sequence, signature))
    return {
        "title": title,
        "kind": kind,
        "domain": domain,
        "stream_id": stream_id,
        "sequence": str(sequence),
        "without_envelope_hex": rest.hex(),
        "signed_hex": covered.hex(),
        "signature_hex": signature.hex(),
        "wire_hex": (field(wrap, message) if wrap else message).hex(),
    }


def event(title, name, wrap, sequence, rest):
    domain = f"windlass-edge-{name}-v1"
    return vector(title, "event", domain, daemon, STREAM, sequence, rest, 1, wrap)


daemon = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
relay = Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64)))
new = Ed25519PrivateKey.from_private_bytes(bytes(range(64, 96)))

labels = b"".join(field(5, field(1, name) + field(2, value)) for name, value in (("zone", "b"), ("rack", "7")))
capabilities = field(1, "linux") + field(2, "amd64") + field(3, "cmd.run") + field(3, "fs.read") + field(4, "/srv") + labels
ok = field(1, field(1, 3) + field(3, field(1, 2) + field(2, 500_000_000)))
invoke = field(1, COMMAND) + field(2, "default") + field(3, field(1, TOKEN) + field(2, "acme")) + field(4, "cmd.run")
arguments = field(1, field(1, "command") + field(2, field(3, "uptime")))
invoke += field(5, arguments) + field(6, field(1, 60))
nonce = bytes(range(96, 128))
challenge = b"windlass-edge-challenge-v1\0" + nonce
proof = NODE.encode() + raw(new)
rotation = field(2, raw(new)) + field(3, new.sign(proof))

document = {
    "description": "Signed messages of edge mode, and the bytes that their signatures are over (docs/edge-protocol.md). "
    "The private keys are the 32 bytes 00 to 1f, 20 to 3f and 40 to 5f; the tokens are no real ones.",
    "node_id": NODE,
    "timestamp_seconds": SECONDS,
    "daemon_key_hex": bytes(range(32)).hex(),
    "daemon_public_key_hex": raw(daemon).hex(),
    "relay_key_hex": bytes(range(32, 64)).hex(),
    "relay_public_key_hex": raw(relay).hex(),
    "new_key_hex": bytes(range(64, 96)).hex(),
    "new_public_key_hex": raw(new).hex(),
    "challenge": {"nonce_hex": nonce.hex(), "signed_hex": challenge.hex(), "signature_hex": daemon.sign(challenge).hex()},
    "rotation_proof": {"signed_hex": proof.hex(), "signature_hex": new.sign(proof).hex()},
    "vectors": [
        event("hello, labels in an order that no serializer keeps", "hello", 1, 1, field(2, capabilities) + field(3, STREAM)),
        event("heartbeat", "heartbeat", 2, 2, field(2, field(1, SECONDS))),
        event("heartbeat without content, at the largest sequence", "heartbeat", 2, 2**64 - 1, b""),
        event("result", "command-result", 3, 3, field(2, COMMAND) + field(3, ok)),
        event("progress", "command-progress", 4, 4, field(2, COMMAND) + field(3, field(1, b"\xff\x00line\n"))),
        event("drained", "command-progress", 4, 5, field(3, field(3, field(1, "drained")))),
        event("capabilities", "capability-update", 5, 6, field(2, capabilities)),
        vector("command", "command", "windlass-edge-command-v1", relay, STREAM, 1, field(1, invoke), 10),
        vector("acknowledgement", "command", "windlass-edge-command-v1", relay, STREAM, 2, field(11, field(1, COMMAND)), 10),
        vector("rotation", "rotation", "windlass-edge-rotation-v1", daemon, "", 1, rotation, 1),
    ],
}

target = pathlib.Path(__file__).parents[2] / "docs/reference/edge-vectors.json"
target.write_text(json.dumps(document, indent=2) + "\n")
