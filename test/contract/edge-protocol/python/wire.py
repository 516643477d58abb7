"""Signatures and bytes of the protocol of edge hosts, from docs/edge-protocol.md alone."""

import base64
import hashlib
import json
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from windlass.node.v1 import node_pb2

DOMAINS = {
    "hello": "windlass-edge-hello-v1",
    "heartbeat": "windlass-edge-heartbeat-v1",
    "command_result": "windlass-edge-command-result-v1",
    "command_progress": "windlass-edge-command-progress-v1",
    "capability_update": "windlass-edge-capability-update-v1",
}
COMMAND_DOMAIN = "windlass-edge-command-v1"
ROTATION_DOMAIN = "windlass-edge-rotation-v1"
CHALLENGE_DOMAIN = "windlass-edge-challenge-v1"


class Refused(Exception):
    """A message is not proven, or breaks a rule of the protocol."""


def raw_public_key(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def bytes_field(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def signed_bytes(domain: str, stream_id: str, sequence: int, rest: bytes) -> bytes:
    digest = hashlib.sha256(rest).digest()
    return domain.encode() + b"\0" + stream_id.encode() + sequence.to_bytes(8, "big") + digest


def seal(message, domain: str, facts) -> bytes:
    """The bytes of a message without envelope, then its envelope as field 1. `facts`: key, token, node_id, stream_id, sequence."""
    rest = message.SerializeToString()
    envelope = node_pb2.SealNodeEnvelope(node_id=facts["node_id"], security_token=facts["token"], sequence=facts["sequence"])
    envelope.signature = facts["key"].sign(signed_bytes(domain, facts["stream_id"], facts["sequence"], rest))
    envelope.timestamp.FromNanoseconds(time.time_ns())
    return rest + bytes_field(1, envelope.SerializeToString())


def seal_event(kind: str, message, facts) -> bytes:
    """The bytes of an EdgeEvent."""
    number = node_pb2.EdgeEvent.DESCRIPTOR.fields_by_name[kind].number
    return bytes_field(number, seal(message, DOMAINS[kind], facts))


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def cut_field(data: bytes, number: int) -> tuple[bytes, bytes]:
    """The value of a field with a message in it, and all bytes beside that field. Every field is there once."""
    at = 0
    rest = b""
    found = None
    seen = set()
    while at < len(data):
        start = at
        tag, at = read_varint(data, at)
        if tag & 7 != 2 or tag >> 3 in seen:
            raise Refused(f"field {tag >> 3} of a command")
        seen.add(tag >> 3)
        length, at = read_varint(data, at)
        value = data[at : at + length]
        at += length
        if tag >> 3 == number:
            found = value
        else:
            rest += data[start:at]
    if found is None:
        raise Refused("a command without an envelope")
    return found, rest


def open_command(data: bytes, relay_key: Ed25519PublicKey, node_id: str, stream_id: str, after: int):
    """The EdgeCommand and its sequence, where the pinned key has signed it for this place."""
    value, rest = cut_field(data, 10)
    envelope = node_pb2.SealNodeEnvelope.FromString(value)
    try:
        relay_key.verify(envelope.signature, signed_bytes(COMMAND_DOMAIN, stream_id, envelope.sequence, rest))
    except InvalidSignature as error:
        raise Refused("a command that the relay has not signed") from error
    if envelope.node_id != node_id or envelope.sequence <= after:
        raise Refused("a command for another place")
    return node_pb2.EdgeCommand.FromString(data), envelope.sequence


def unpadded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def plain(value):
    """A google.protobuf.Value, Struct or ListValue as Python has it."""
    name = value.DESCRIPTOR.name
    if name == "Struct":
        return {key: plain(member) for key, member in value.fields.items()}
    if name == "ListValue":
        return [plain(member) for member in value.values]
    kind = value.WhichOneof("kind")
    if kind is None or kind == "null_value":
        return None
    member = getattr(value, kind)
    return plain(member) if kind in ("struct_value", "list_value") else member


def canonical(value) -> str:
    """RFC 8785 for what a Struct may hold. Numbers beyond whole ones of 2**53 are not needed here, and are refused."""
    if isinstance(value, float):
        if value != int(value) or abs(value) > 2**53:
            raise Refused("a number that this daemon does not write canonically")
        return str(int(value))
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(member) for member in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def prove(invoke, command_key: Ed25519PublicKey, node_id: str, tenant: str) -> dict:
    """The claims of the command token, and the arguments that it is for."""
    try:
        head, body, signature = invoke.seal_envelope.user_security_token.split(".")
        command_key.verify(unpadded(signature), f"{head}.{body}".encode())
        algorithm, claims = json.loads(unpadded(head))["alg"], json.loads(unpadded(body))
    except (ValueError, KeyError, InvalidSignature) as error:
        raise Refused("the command token is not valid") from error
    args = plain(invoke.args)
    digest = hashlib.sha256(canonical({"args": args, "tool": invoke.tool_name}).encode()).hexdigest()
    wanted = {
        "iss": "windlass",
        "aud": "edge-command",
        "tid": tenant,
        "node": node_id,
        "cid": invoke.command_id,
        "tool": invoke.tool_name,
        "ctx": invoke.security_context_name,
        "ah": digest,
    }
    if algorithm != "EdDSA" or invoke.seal_envelope.tenant_id != tenant:
        raise Refused("the command token is for another tenant or algorithm")
    for name, value in wanted.items():
        if claims.get(name) != value:
            raise Refused(f"the command token has another {name}")
    if claims["exp"] <= time.time():
        raise Refused("the time of the command token is over")
    return {"claims": claims, "args": args}
