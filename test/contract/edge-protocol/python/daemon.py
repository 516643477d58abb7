"""An edge daemon from docs/edge-protocol.md and proto/ alone. It runs `cmd.run` for programs that it is given.

usage: daemon.py enroll STATE ENDPOINT TOKEN_FILE
       daemon.py run STATE PROGRAM...        SIGUSR1 rotates the key

EDGE_CA names the authority of the relay's certificate; without it the daemon speaks plain text.
"""

import contextlib
import json
import os
import pathlib
import queue
import random
import signal
import subprocess
import sys
import threading
import time
import uuid

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from google.protobuf import any_pb2, struct_pb2
from windlass.node.v1 import node_pb2, node_pb2_grpc

import wire

CONTEXT = "default"


def channel_to(endpoint: str) -> grpc.Channel:
    authority = os.environ.get("EDGE_CA")
    if authority is None:
        return grpc.insecure_channel(endpoint)
    return grpc.secure_channel(endpoint, grpc.ssl_channel_credentials(pathlib.Path(authority).read_bytes()))


class State:
    """State of the daemon that survives a restart: its identity, its keys, and its commands."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.lock = threading.Lock()

    def read(self, name: str):
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else None

    def write(self, name: str, value) -> None:
        """Whole or not at all, also where the machine stops."""
        path = self.folder / name
        fresh = path.with_suffix(".new")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(path)

    def key(self, name: str) -> Ed25519PrivateKey:
        """The key of a name; made and written first where there is none."""
        found = self.read(f"{name}.json")
        if found is None:
            found = Ed25519PrivateKey.generate().private_bytes_raw().hex()
            self.write(f"{name}.json", found)
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(found))

    def commands(self) -> dict[str, str | None]:
        """Results in hexadecimal by command id; None while the tool runs."""
        return self.read("commands.json") or {}

    def remember(self, command_id: str, result: bytes | None) -> None:
        with self.lock:
            known = self.commands()
            known[command_id] = None if result is None else result.hex()
            self.write("commands.json", known)

    def acknowledged(self, command_ids) -> None:
        """The id stays, so that the command is not run again; the result is deleted."""
        with self.lock:
            known = self.commands()
            for command_id in command_ids:
                if command_id in known:
                    known[command_id] = ""
            self.write("commands.json", known)


def enroll(folder: str, endpoint: str, token_file: str) -> None:
    """AttestNode, then ChallengeNode; a crash between them is mended by the same call."""
    state = State(pathlib.Path(folder))
    state.folder.mkdir(mode=0o700, exist_ok=True)
    key = state.key("key")
    with channel_to(endpoint) as channel:
        stub = node_pb2_grpc.NodeClusterServiceStub(channel)
        attested = stub.AttestNode(
            node_pb2.AttestNodeRequest(
                role=node_pb2.NODE_ROLE_EDGE, public_key=wire.raw_public_key(key), version="python", name="third-party"
            )
        )
        answer = stub.ChallengeNode(
            node_pb2.ChallengeNodeRequest(
                attestation_id=attested.attestation_id,
                signature=key.sign(wire.CHALLENGE_DOMAIN.encode() + b"\0" + attested.nonce),
                role=node_pb2.NODE_ROLE_EDGE,
                enrollment_token=pathlib.Path(token_file).read_text().strip(),
            )
        )
    identity = {
        "endpoint": endpoint,
        "node_id": answer.node_id,
        "tenant": answer.tenant_id,
        "relay_key": answer.relay_public_key.hex(),
        "command_key": answer.command_public_key.hex(),
        "heartbeat": answer.heartbeat_interval.ToNanoseconds() / 1e9,
    }
    state.write("identity.json", identity)
    state.write("credential.json", {"key": "key", "token": answer.node_security_token})
    print(answer.node_id)


class Session:
    """One stream, from Hello to its end."""

    def __init__(self, daemon: "Daemon"):
        self.daemon = daemon
        self.stream_id = str(uuid.uuid4())
        self.sequence = 0
        self.outgoing: queue.Queue[tuple[str, object] | None] = queue.Queue()
        self.over = threading.Event()

    def send(self, kind: str, message) -> None:
        self.outgoing.put((kind, message))

    def messages(self):
        """Messages for gRPC to write. Each message is sealed when its turn comes, with the key of that moment."""
        while (next_message := self.outgoing.get()) is not None:
            kind, message = next_message
            self.sequence += 1
            key, token = self.daemon.credential
            facts = {"key": key, "token": token, "node_id": self.daemon.node_id}
            yield wire.seal_event(kind, message, {**facts, "stream_id": self.stream_id, "sequence": self.sequence})

    def end(self) -> None:
        self.over.set()
        self.outgoing.put(None)

    def beat(self) -> None:
        while not self.over.wait(self.daemon.heartbeat):
            beat = node_pb2.Heartbeat()
            beat.sent_at.GetCurrentTime()
            self.send("heartbeat", beat)

    def run(self, channel: grpc.Channel) -> None:
        self.send("hello", node_pb2.Hello(capabilities=self.daemon.capabilities(), stream_id=self.stream_id))
        for command_id, result in self.daemon.state.commands().items():
            if result:
                self.result(command_id, bytes.fromhex(result))
        # Bytes both ways: signatures are over bytes, not over messages.
        connect = channel.stream_stream("/windlass.node.v1.NodeClusterService/ConnectEdge")
        _, token = self.daemon.credential
        threading.Thread(target=self.beat, daemon=True).start()
        after = 0
        calls = connect(self.messages(), metadata=[("authorization", f"Bearer {token}")])
        try:
            for data in calls:
                command, after = wire.open_command(
                    data, self.daemon.relay_key, self.daemon.node_id, self.stream_id, after
                )
                self.daemon.take(self, command)
        finally:
            self.end()
            calls.cancel()

    def result(self, command_id: str, result: bytes) -> None:
        outcome = node_pb2.EdgeResult.FromString(result)
        self.send("command_result", node_pb2.CommandResult(command_id=command_id, result=outcome))

    def progress(self, command_id: str, **kind) -> None:
        self.send("command_progress", node_pb2.CommandProgress(command_id=command_id, chunk=node_pb2.Chunk(**kind)))


def is_revoked(error: grpc.RpcError) -> bool:
    """Only the relay has the trailer: a proxy may answer PERMISSION_DENIED for a time."""
    trailers = dict(error.trailing_metadata() or ())
    return error.code() == grpc.StatusCode.PERMISSION_DENIED and trailers.get("windlass-reason") == "HostRevoked"


class Daemon:
    def __init__(self, folder: str, programs: list[str]):
        self.state = State(pathlib.Path(folder))
        identity = self.state.read("identity.json")
        self.endpoint, self.node_id, self.tenant = (identity[name] for name in ("endpoint", "node_id", "tenant"))
        self.relay_key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(identity["relay_key"]))
        self.command_key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(identity["command_key"]))
        self.heartbeat = identity["heartbeat"]
        kept = self.state.read("credential.json")
        self.credential = self.state.key(kept["key"]), kept["token"]
        self.programs = programs
        self.labels = {"made": "python"}
        self.running: dict[str, subprocess.Popen] = {}
        self.broken: dict[str, str] = {}
        self.draining = self.stopping = False
        self.session: Session | None = None
        for command_id, result in self.state.commands().items():
            if result is None:
                lost = node_pb2.Err(code="OutcomeUnknown", message="the daemon ended while the command ran")
                self.state.remember(command_id, node_pb2.EdgeResult(err=lost).SerializeToString())

    def capabilities(self):
        return node_pb2.EdgeCapabilities(os="linux", arch=os.uname().machine, local_tools=["cmd.run"], custom_labels=self.labels)

    def run(self) -> None:
        failures = 0
        while not self.stopping:
            began = time.monotonic()
            with channel_to(self.endpoint) as channel:
                self.session = Session(self)
                try:
                    self.session.run(channel)
                except (grpc.RpcError, wire.Refused) as error:
                    print("stream lost:", error, file=sys.stderr)
                    if isinstance(error, grpc.RpcError) and is_revoked(error):
                        sys.exit(78)
            failures = 0 if time.monotonic() - began > 30 else failures + 1
            if not self.stopping:
                time.sleep(random.uniform(0, min(60, 2**failures)))

    def take(self, session: Session, command) -> None:
        if command.result_ack.command_ids:
            self.state.acknowledged(command.result_ack.command_ids)
        match command.WhichOneof("command"):
            case "invoke_tool":
                self.invoke(session, command.invoke_tool)
            case "cancel":
                self.cancel(command.cancel.command_id, command.cancel.reason)
            case "push_config":
                self.labels = {**self.labels, **json.loads(command.push_config.config_delta)["labels"]}
                session.send("capability_update", node_pb2.CapabilityUpdate(capabilities=self.capabilities()))
            case "drain":
                self.draining = True
                threading.Thread(target=self.drained, args=[session], daemon=True).start()
            case "shutdown":
                self.stopping = True
                grace = command.shutdown.grace.ToNanoseconds() / 1e9
                threading.Thread(target=self.shut_down, args=[session, grace], daemon=True).start()

    def invoke(self, session: Session, invoke) -> None:
        known = self.state.commands()
        if invoke.command_id in known:
            if known[invoke.command_id]:
                session.result(invoke.command_id, bytes.fromhex(known[invoke.command_id]))
            return
        try:
            command = self.judge(invoke)
        except wire.Refused as refusal:
            code, _, message = str(refusal).rpartition(": ")
            self.finish(invoke.command_id, err=node_pb2.Err(code=code or "CommandUnproven", message=message))
            return
        self.state.remember(invoke.command_id, None)
        seconds = command["claims"]["deadline_s"]
        if asked := invoke.deadline.ToNanoseconds() / 1e9:
            seconds = min(seconds, asked)
        # The process is there before the next message is taken, so that a Cancel meets it.
        line = [command["args"]["command"], *command["args"].get("args", [])]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.running[invoke.command_id] = process
        session.progress(invoke.command_id, status=node_pb2.StatusUpdate(state="started"))
        threading.Thread(target=self.wait, args=[session, invoke.command_id, seconds], daemon=True).start()

    def judge(self, invoke) -> dict:
        if self.draining:
            raise wire.Refused("Draining: this host takes no new commands")
        command = wire.prove(invoke, self.command_key, self.node_id, self.tenant)
        if invoke.security_context_name != CONTEXT:
            raise wire.Refused("SecurityContextUnknown: this host has no such context")
        if invoke.tool_name != "cmd.run" or command["args"].get("command") not in self.programs:
            raise wire.Refused("CommandNotAllowed: this host does not run it")
        return command

    def wait(self, session: Session, command_id: str, seconds: float) -> None:
        process, began = self.running[command_id], time.monotonic()
        deadline = threading.Timer(seconds, self.break_off, [command_id, "deadline"])
        deadline.start()
        output = {"stdout": b"", "stderr": b""}

        def read(name: str, pipe) -> None:
            while chunk := os.read(pipe.fileno(), 16_384):
                output[name] += chunk
                session.progress(command_id, **{name: chunk})

        readers = [threading.Thread(target=read, args=[name, getattr(process, name)]) for name in output]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        exit_code = process.wait()
        deadline.cancel()
        why = self.broken.pop(command_id, None)
        if why == "deadline":
            result = node_pb2.TimedOut()
            result.deadline.FromNanoseconds(int(seconds * 1e9))
            self.finish(command_id, timed_out=result)
        elif why is not None:
            self.finish(command_id, cancelled=node_pb2.Cancelled(reason=why.removeprefix("cancel: ")))
        else:
            payload = struct_pb2.Struct()
            payload.update({name: data.decode(errors="replace") for name, data in output.items()})
            payload.update({"exit_code": exit_code})
            packed = any_pb2.Any()
            packed.Pack(payload)
            result = node_pb2.Ok(exit_code=exit_code, payload=packed)
            result.duration.FromNanoseconds(int((time.monotonic() - began) * 1e9))
            self.finish(command_id, ok=result)

    def finish(self, command_id: str, **outcome) -> None:
        """The result is on the disk before the relay hears of it, and is sent on the stream of the moment."""
        result = node_pb2.EdgeResult(**outcome).SerializeToString()
        self.state.remember(command_id, result)
        if self.session is not None:
            self.session.result(command_id, result)
        self.running.pop(command_id, None)

    def cancel(self, command_id: str, reason: str) -> None:
        self.break_off(command_id, f"cancel: {reason}")

    def break_off(self, command_id: str, why: str) -> None:
        """The first reason counts. The command's children end with it."""
        process = self.running.get(command_id)
        if process is None or command_id in self.broken:
            return
        self.broken[command_id] = why
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def idle(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.running and time.monotonic() < end:
            time.sleep(0.01)
        return not self.running

    def drained(self, session: Session) -> None:
        self.idle(86_400)
        session.progress("", status=node_pb2.StatusUpdate(state="drained"))

    def shut_down(self, session: Session, grace: float) -> None:
        self.draining = True
        if not self.idle(grace):
            for command_id in list(self.running):
                self.cancel(command_id, "the server shut the daemon down")
            self.idle(10)
        session.end()

    def rotate(self) -> None:
        """A new key is on the disk before the relay hears of it, and counts from the next envelope on."""
        old, token = self.credential
        name = f"key-{uuid.uuid4()}"
        new = self.state.key(name)
        public = wire.raw_public_key(new)
        request = node_pb2.RotateEdgeKeyRequest(
            new_public_key=public, signature_with_new_key=new.sign(self.node_id.encode() + public)
        )
        facts = {"key": old, "token": token, "node_id": self.node_id, "stream_id": "", "sequence": time.time_ns()}
        with channel_to(self.endpoint) as channel:
            call = channel.unary_unary(
                "/windlass.node.v1.NodeClusterService/RotateEdgeKey",
                response_deserializer=node_pb2.RotateEdgeKeyResponse.FromString,
            )
            answer = call(wire.seal(request, wire.ROTATION_DOMAIN, facts))
        self.state.write("credential.json", {"key": name, "token": answer.node_security_token})
        self.credential = new, answer.node_security_token
        self.heartbeat = answer.heartbeat_interval.ToNanoseconds() / 1e9 or self.heartbeat


def main() -> None:
    verb, folder, *rest = sys.argv[1:]
    if verb == "enroll":
        enroll(folder, *rest)
        return
    daemon = Daemon(folder, rest)
    signal.signal(signal.SIGUSR1, lambda *_: threading.Thread(target=daemon.rotate, daemon=True).start())
    daemon.run()


main()
