"""What Schemathesis cannot know of this API: how to sign a call, which tenant is the test's, and which ids lead somewhere."""

import hashlib
import hmac
import json
import os
import zlib

import schemathesis
from schemathesis import GenerationMode

world = json.loads(os.environ["WINDLASS_SCHEMATHESIS_WORLD"])
webhooks = "/v1/webhooks/{source}"


def operation_id(case):
    return case.operation.definition.raw.get("operationId")


def number_of(text):
    """The same for the same text, so that a failure can be made smaller and repeated."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def known(case, name, text):
    """In three of four cases a value that leads somewhere, else the text itself."""
    choices = world["values"].get(f"{operation_id(case)}.{name}") or world["values"].get(name) or []
    number = number_of(text)
    return choices[number // 4 % len(choices)] if choices and number % 4 else text


@schemathesis.hook
def map_case(context, case):
    """Good requests go to the test's tenant, and mostly to objects that exist; bad ones stay as bad as they are."""
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return case
    for name, value in (case.path_parameters or {}).items():
        case.path_parameters[name] = known(case, name, str(value))
    if operation_id(case) == "startExecution" and isinstance(case.body, dict):
        case.body["workflow"] = known(case, "workflow", str(case.body.get("workflow")))
    if operation_id(case) == "submitStimulus" and isinstance(case.body, dict):
        case.body["source"] = known(case, "source", str(case.body.get("source")))
    if operation_id(case) == "registerWorkflow" and number_of(str(case.body)) % 4:
        case.body = world["manifest"].replace("NAME", f"made-{number_of(str(case.body)) % 5}")
    if case.path_parameters is not None and operation_id(case) == "receiveWebhook":
        case.body = json.dumps({"number": number_of(str(case.body))}).encode()
        case.media_type = "application/json"
    return case


@schemathesis.auth().skip_for(path=webhooks)
class Bearer:
    """A service account, which acts for the tenant that it names."""

    def get(self, case, context):
        return world["token"]

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"
        case.headers.setdefault("X-Tenant-Id", world["tenant"])
        if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
            case.headers["X-Tenant-Id"] = world["tenant"]


@schemathesis.auth().apply_to(path=webhooks)
class Signature:
    """HMAC-SHA256 of the bytes that are sent."""

    def get(self, case, context):
        return world["secret"]

    def set(self, case, data, context):
        body = case.body if isinstance(case.body, bytes) else b""
        digest = hmac.new(data.encode(), body, hashlib.sha256).hexdigest()
        case.headers = case.headers or {}
        case.headers["x-svc-signature"] = f"sha256={digest}"
