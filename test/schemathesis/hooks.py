"""Facts of this API that Schemathesis cannot know: signatures of calls, the tenant of the test, and existing ids."""

import collections
import hashlib
import hmac
import json
import os
import zlib

import schemathesis
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase

world = json.loads(os.environ["WINDLASS_SCHEMATHESIS_WORLD"])
webhooks = "/v1/webhooks/{source}"
unsigned = "sha256=to be filled in"


def operation_id(case):
    return case.operation.definition.raw.get("operationId")


def has_bad_headers(case):
    header = case.meta.components.get(ParameterLocation.HEADER) if case.meta is not None else None
    return header is not None and header.mode is GenerationMode.NEGATIVE


def number_of(text):
    """The same for the same text, so that a failure can be made smaller and repeated."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


# An operator takes these to and from where every tenant sees them: only workflows of the test may be named.
moving = ["promoteWorkflow", "demoteWorkflow", "deleteWorkflow"]


def known(case, name, text):
    """In three of four cases a value that leads somewhere, else the text itself."""
    choices = world["values"].get(f"{operation_id(case)}.{name}") or world["values"].get(name) or []
    number = number_of(text)
    replaced = number % 4 or operation_id(case) in moving
    return choices[number // 4 % len(choices)] if choices and replaced else text


# Fields of bodies that name something which has to exist.
fields = {
    "startExecution": ["workflow"],
    "submitStimulus": ["source"],
    "createCheckout": ["price_id", "seat_price_id"],
}


def manifest(case):
    """Mostly one that can be registered; it is sent as YAML or JSON, as the media type says."""
    names = world["values"]["registerWorkflow.workflow"]
    number = number_of(f"{case.body}{case.query}")
    if number % 4 == 0:
        # Every tenant would see it, under whatever name.
        if case.query and case.query.get("scope") == "global":
            case.query["scope"] = "tenant"
        return case.body
    return {**world["manifest"], "metadata": {**world["manifest"]["metadata"], "name": names[number % len(names)]}}


# The coverage of a manifest breaks each rule of its schema in up to forty ways, which all meet the same code: values of
# other types, each in every media type. These two operations would have three quarters of all requests of that phase.
# One of seven is sent, the first included: seven is no multiple of either number, so that types and media types vary.
manifests = ["registerWorkflow", "registerAgent"]
ways_for_one = 7
ways = collections.Counter()


@schemathesis.hook
def filter_case(context, case):
    """The first, and then each seventh, of the ways in which coverage tries one rule of a manifest."""
    if operation_id(case) not in manifests or case.meta is None or case.meta.phase.name is not TestPhase.COVERAGE:
        return True
    data = case.meta.phase.data
    rule = (data.scenario, data.location, data.parameter, data.parameter_location)
    way = (operation_id(case), case.meta.generation.mode, *rule)
    ways[way] += 1
    return ways[way] % ways_for_one == 1


@schemathesis.hook
def map_case(context, case):
    """Good requests go to the test's tenant, and mostly to objects that exist; bad ones stay as bad as they are."""
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return case
    for name, value in (case.path_parameters or {}).items():
        case.path_parameters[name] = known(case, name, str(value))
    operation = operation_id(case)
    if operation in fields and isinstance(case.body, dict):
        for name in fields[operation]:
            if name in case.body:
                case.body[name] = known(case, name, str(case.body[name]))
    if operation == "registerWorkflow":
        case.body = manifest(case)
    if operation == "receiveWebhook":
        case.body = json.dumps({"number": number_of(str(case.body))}).encode()
        case.media_type = "application/octet-stream"
    return case


@schemathesis.auth().skip_for(path=webhooks)
class Bearer:
    """A service account, which acts for the tenant that it names."""

    def get(self, case, context):
        return world["token"]

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"
        if not has_bad_headers(case):
            case.headers["X-Tenant-Id"] = world["tenant"]


@schemathesis.auth().apply_to(path=webhooks)
class Signature:
    """Only that there is one: the bytes to be signed are known later."""

    def get(self, case, context):
        return unsigned

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["x-svc-signature"] = data


@schemathesis.hook
def before_call(context, case, kwargs):
    """HMAC-SHA256 of the bytes that are sent."""
    if case.headers is not None and case.headers.get("x-svc-signature") == unsigned:
        body = getattr(case.body, "data", case.body)
        digest = hmac.new(world["secret"].encode(), body if isinstance(body, bytes) else b"", hashlib.sha256)
        case.headers["x-svc-signature"] = f"sha256={digest.hexdigest()}"
