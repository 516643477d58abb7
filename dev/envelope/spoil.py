"""Prints spoiled variants of a valid envelope as JSON, with the answer that each has to get (spec 3 §7).

Written from docs/tools.md and RFC 8032, 8785 and 7519 alone, with the standard library alone: no code of this repository.
usage: spoil.py < SETTINGS, a JSON object with issuer_seed, session_seed (64 hexadecimal digits each), issuer, audience,
tenant, execution_id, context, now (Unix seconds), salt (a text in each payload: another one makes other calls). A variant has title, body (base64), status, rpc and code.
"""

import base64
import hashlib
import hmac
import json
import sys

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def recover_x(y, sign):
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return P - x if x & 1 != sign else x


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)
NEUTRAL = (0, 1, 1, 0)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(n, point):
    sum_ = NEUTRAL
    while n > 0:
        if n & 1:
            sum_ = add(sum_, point)
        point, n = add(point, point), n >> 1
    return sum_


def encode(point):
    z = pow(point[2], P - 2, P)
    return (point[1] * z % P | (point[0] * z % P & 1) << 255).to_bytes(32, "little")


def sha(*parts):
    return hashlib.sha512(b"".join(parts)).digest()


class Key:
    def __init__(self, seed):
        half = sha(seed)
        self.scalar = int.from_bytes(half[:32], "little") & (2**254 - 8) | 2**254
        self.prefix, self.public = half[32:], encode(times(self.scalar, BASE))

    def sign(self, message, prefix=b""):
        r = int.from_bytes(sha(prefix, self.prefix, message), "little") % L
        return self.finish(encode(times(r, BASE)), r, prefix, message)

    def finish(self, point, r, prefix, message):
        k = int.from_bytes(sha(prefix, point, self.public, message), "little") % L
        return point + ((r + k * self.scalar) % L).to_bytes(32, "little")


def canonical(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def b64(raw):
    return base64.b64encode(raw).decode()


def url(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


settings = json.load(sys.stdin)
now = settings["now"]
issuer, session, stranger = (Key(bytes.fromhex(seed)) for seed in (settings["issuer_seed"], settings["session_seed"], "07" * 32))


def jwt(changes=None, header=None, key=issuer, drop=(), mac=None):
    claims = {"iss": settings["issuer"], "aud": settings["audience"], "jti": "token-1", "scp": settings["context"],
              "tenant_id": settings["tenant"], "iat": now, "exp": now + 3600, **(changes or {})}
    claims = {name: value for name, value in claims.items() if name not in drop}
    head = {"alg": "EdDSA", "typ": "JWT", **(header or {})}
    text = url(json.dumps(head).encode()) + "." + url(json.dumps(claims).encode())
    if head["alg"] == "none":
        return text + "."
    return text + "." + url(key.sign(text.encode()) if mac is None else hmac.new(mac, text.encode(), "sha256").digest())


TOKEN = jwt()
count = 0


def payload(arguments=None, name="orders.get", **more):
    global count
    count += 1
    given = {"id": f"order-{settings['salt']}-{count}"} if arguments is None else arguments
    return {"jsonrpc": "2.0", "id": 1, "salt": settings["salt"], "method": "tools/call", "params": {"name": name, "arguments": given}, **more}


def envelope(call=None, token=TOKEN, at=now, key=session, signed=None, sign=None, **more):
    call = payload() if call is None else call
    text = canonical({"payload": call, "security_token": token, "timestamp": at}) if signed is None else signed(call, token, at)
    signature = key.sign(text.encode()) if sign is None else sign(text.encode())
    return {"protocol": "seal/v1", "security_token": token, "signature": b64(signature), "timestamp": at,
            "payload": call, "metadata": {"execution_id": settings["execution_id"]}, **more}


variants = []


def put(title, body, status, rpc=None, code=None):
    raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    variants.append({"title": title, "body": b64(raw), "status": status, "rpc": rpc, "code": code})


def malformed(title, body):
    put(title, body, 400, -32600)


def replaced(title, old, new, call=None):
    """The text of a valid envelope in which one part is written otherwise."""
    text = json.dumps(envelope(call or payload({"id": "MARK", "n": 7})))
    assert old in text, title
    malformed(title, text.replace(old, new, 1))


def field(title, name, value):
    malformed(title, {**envelope(), name: value})


def absent(title, name):
    malformed(title, {other: value for other, value in envelope().items() if other != name})


# The same call written otherwise is the same call.
put("VALID as it is", envelope(), 200)
put("VALID with its names in reverse", dict(reversed(list(envelope().items()))), 200)
put("VALID with blanks and line feeds", json.dumps(envelope(), indent=4), 200)
put("VALID with escapes without a need", json.dumps(envelope()).replace("order-", "\\u006frder-"), 200)
put("VALID with a whole number as 7.0", json.dumps(envelope(payload({"id": "a", "n": 7}))).replace('"n": 7', '"n": 7.0'), 200)
put("VALID with a whole number as 70e-1", json.dumps(envelope(payload({"id": "b", "n": 7}))).replace('"n": 7', '"n": 70e-1'), 200)
put("VALID with metadata that no signature covers", envelope(metadata={"execution_id": settings["execution_id"], "trace": 1}), 200)
put("VALID with names beyond the basic plane", envelope(payload({"id": "c", "\ufb33": 1, "\U0001f600": 2})), 200)

replaced("a repeated argument", '"id": "MARK"', '"id": "MARK", "id": "other"')
replaced("a repeated argument of the same value", '"id": "MARK"', '"id": "MARK", "id": "MARK"')
replaced("an argument repeated by an escape", '"id": "MARK"', '"\\u0069d": "other", "id": "MARK"')
replaced("a repeated name of the tool", '"name": "orders.get"', '"name": "orders.get", "name": "orders.put"')
replaced("a repeated payload", '"payload": ', '"payload": {}, "payload": ')
replaced("a repeated token", '"security_token": ', '"security_token": "a.b.c", "security_token": ')
replaced("a repeated timestamp", '"timestamp": ', '"timestamp": 0, "timestamp": ')
replaced("a repeated execution_id", '"execution_id": ', '"execution_id": "x", "execution_id": ')
replaced("the name __proto__", '"id": "MARK"', '"id": "MARK", "__proto__": {"id": "other"}')
replaced("half a character in a value", '"MARK"', '"\\ud83d"')
replaced("the other half of a character in a name", '"n": 7', '"\\ude00": 7')
replaced("both halves of a character the wrong way round", '"MARK"', '"\\ude00\\ud83d"')
replaced("a number that is infinite", '"n": 7', '"n": 1e400')
replaced("a whole number beyond 2^53", '"n": 7', '"n": 9007199254740993')
replaced("a number with a zero before it", '"n": 7', '"n": 07')
replaced("a number with a plus", '"n": 7', '"n": +7')
replaced("a hexadecimal number", '"n": 7', '"n": 0x7')
replaced("NaN", '"n": 7', '"n": NaN')
replaced("a comma behind the last argument", '"n": 7', '"n": 7,')
replaced("a comment", '"n": 7', '"n": 7 /* n */')
replaced("single quotes", '"MARK"', "'MARK'")
replaced("a control character in a value", '"MARK"', '"MA\nRK"')
malformed("a byte order mark", b"\xef\xbb\xbf" + json.dumps(envelope()).encode())
malformed("UTF-16, little end first", json.dumps(envelope()).encode("utf-16-le"))
malformed("UTF-16 with its mark", json.dumps(envelope()).encode("utf-16"))
malformed("UTF-32", json.dumps(envelope()).encode("utf-32-be"))
malformed("a letter in Latin-1", json.dumps(envelope(payload({"id": "MARK"}))).encode().replace(b"MARK", b"\xe9"))
malformed("an overlong encoding", json.dumps(envelope(payload({"id": "MARK"}))).encode().replace(b"MARK", b"\xc0\xaf"))
malformed("surrogates encoded one by one", json.dumps(envelope(payload({"id": "MARK"}))).encode().replace(b"MARK", b"\xed\xa0\xbd\xed\xb8\x80"))
malformed("an empty body", b"")
malformed("half an envelope", json.dumps(envelope())[:200])
malformed("two envelopes", json.dumps(envelope()) * 2)
malformed("a list of envelopes", [envelope()])
malformed("an envelope as text", json.dumps(json.dumps(envelope())))
deep = 1
for _ in range(64):
    deep = [deep]
malformed("values 65 levels deep and more", envelope(payload({"id": "x", "deep": deep})))
field("another protocol", "protocol", "seal/v2")
absent("no protocol", "protocol")
field("a payload as text", "payload", json.dumps(payload()))
absent("no payload", "payload")
malformed("another method", envelope(payload(method="tools/list")))
malformed("JSON-RPC 1.0", envelope(payload(jsonrpc="1.0")))
malformed("no version of JSON-RPC", envelope({name: value for name, value in payload().items() if name != "jsonrpc"}))
malformed("an id that is an object", envelope(payload(id={})))
malformed("no name of a tool", envelope(payload(params={"arguments": {}})))
malformed("a name that is a number", envelope(payload(params={"name": 7, "arguments": {}})))
malformed("an empty name", envelope(payload(name="")))
field("a fraction of a second as a number", "timestamp", now + 0.5)
field("a timestamp as digits", "timestamp", str(now))
field("a timestamp without its zone", "timestamp", "2026-01-01T00:00:00")
field("a timestamp that is null", "timestamp", None)
field("a timestamp that is true", "timestamp", True)
field("an empty token", "security_token", "")
field("a token that is an object", "security_token", {"jwt": TOKEN})
field("a token of 8193 characters", "security_token", "a" * 8193)
field("metadata that are a list", "metadata", [settings["execution_id"]])
absent("no metadata", "metadata")
field("an execution_id that is a number", "metadata", {"execution_id": 7})
raw = session.sign(b"x")
field("a signature in base64url", "signature", url(b"\xff" * 64) + "==")
field("a signature without padding", "signature", b64(raw).rstrip("="))
field("a signature with a line feed", "signature", b64(raw) + "\n")
field("a signature in hexadecimal", "signature", raw.hex()[:88])
field("a signature of 63 bytes", "signature", b64(raw[:63]))
field("a signature of 65 bytes", "signature", b64(raw + b"\0"))
field("a signature whose last digit has spare bits", "signature", b64(b"\0" * 64)[:-3] + "B==")
absent("no signature", "signature")


def forged(title, body):
    put(title, body, 401, -32000, 1004)


def malleable(message):
    made = session.sign(message)
    return made[:32] + (int.from_bytes(made[32:], "little") + L).to_bytes(32, "little")


def flipped(index):
    def sign(message):
        made = bytearray(session.sign(message))
        made[index] ^= 1
        return bytes(made)

    return sign


forged("a fraction with too many digits in place of the signed number", json.dumps(envelope(payload({"id": "e", "n": 7}))).replace('"n": 7', '"n": 7.12345678901234567891'))
forged("another key", envelope(key=stranger))
forged("the key of the issuer", envelope(key=issuer))
forged("S + L in place of S", envelope(sign=malleable))
forged("a signature of zeros", envelope(sign=lambda _: bytes(64)))
forged("the neutral point and S = 0", envelope(sign=lambda _: encode(NEUTRAL) + bytes(32)))
forged("a point that is not in canonical form", envelope(sign=lambda text: session.finish((P + 1).to_bytes(32, "little"), 0, b"", text)))
forged("a changed bit of the point", envelope(sign=flipped(3)))
forged("a changed bit of S", envelope(sign=flipped(40)))
forged("a signature with a context", envelope(sign=lambda text: session.sign(text, b"SigEd25519 no Ed25519 collisions\x00\x01x")))
forged("a signature over the hash", envelope(sign=lambda text: session.sign(hashlib.sha256(text).digest())))
forged("a signature over the text in Base64", envelope(sign=lambda text: session.sign(base64.b64encode(text))))
plain = {"separators": (",", ":"), "ensure_ascii": False}
forged("names that are not in order", envelope(signed=lambda call, token, at: json.dumps({"timestamp": at, "security_token": token, "payload": call}, **plain)))
forged("blanks in the signed text", envelope(signed=lambda call, token, at: json.dumps({"payload": call, "security_token": token, "timestamp": at}, sort_keys=True)))
forged("the payload alone", envelope(signed=lambda call, token, at: canonical(call)))
forged("the timestamp as text", envelope(signed=lambda call, token, at: canonical({"payload": call, "security_token": token, "timestamp": str(at)})))
forged("a whole number signed as 7.0", envelope(payload({"id": "d", "n": 7}), signed=lambda call, token, at: canonical({"payload": call, "security_token": token, "timestamp": at}).replace('"n":7', '"n":7.0')))
forged("letters signed as escapes", envelope(payload({"id": "é"}), signed=lambda call, token, at: canonical({"payload": call, "security_token": token, "timestamp": at}).replace("é", "\\u00e9")))
forged("names in the order of code points", envelope(payload({"\ufb33": 1, "\U0001f600": 2}), signed=lambda call, token, at: json.dumps({"payload": call, "security_token": token, "timestamp": at}, sort_keys=True, **plain)))
forged("another argument than the signed one", {**envelope(), "payload": payload({"id": "other"})})
forged("another tool than the signed one", {**envelope(), "payload": payload(name="orders.put")})
forged("another id than the signed one", {**envelope(), "payload": payload(id=2)})
forged("another second than the signed one", {**envelope(), "timestamp": now + 1})
forged("another token than the signed one", {**envelope(), "security_token": jwt({"jti": "token-2"})})


def refused(title, token):
    put(title, envelope(token=token), 401, -32000)


pem = "-----BEGIN PUBLIC KEY-----\n" + b64(bytes.fromhex("302a300506032b6570032100") + issuer.public) + "\n-----END PUBLIC KEY-----\n"
head, body_, tail = TOKEN.split(".")
refused("a token without a signature, alg none", jwt(header={"alg": "none"}))
refused("a token with HS256 over the PEM of the key", jwt(header={"alg": "HS256"}, mac=pem.encode()))
refused("a token with HS256 over the raw key", jwt(header={"alg": "HS256"}, mac=issuer.public))
refused("a token that says ES256", jwt(header={"alg": "ES256"}))
refused("a token that says RS256", jwt(header={"alg": "RS256"}))
refused("a token that brings its own key", jwt(header={"jwk": {"kty": "OKP", "crv": "Ed25519", "x": url(stranger.public)}}, key=stranger))
refused("a token with a critical extension", jwt(header={"crit": ["x"], "x": 1}))
refused("a token of another issuer's key", jwt(key=stranger))
refused("a token of another iss", jwt({"iss": settings["issuer"] + "/"}))
refused("a token for another audience", jwt({"aud": "windlass"}))
refused("a token of the operator lane", jwt({"aud": "windlass", "iss": "https://id.example.com", "svc_role": "svc:admin", "sub": "olga"}, {"typ": "at+jwt"}, stranger))
refused("a token that has ended", jwt({"exp": now - 10}))
refused("a token that has not begun", jwt({"nbf": now + 600}))
refused("a token without its end", jwt(drop=["exp"]))
refused("a token without its beginning", jwt(drop=["iat"]))
refused("a token without jti", jwt(drop=["jti"]))
refused("a token with an empty jti", jwt({"jti": ""}))
refused("a token without scp", jwt(drop=["scp"]))
refused("a token of another context", jwt({"scp": "other"}))
refused("a token without a tenant", jwt(drop=["tenant_id"]))
refused("a token with a blank tenant", jwt({"tenant_id": " "}))
refused("a token whose tenant is a list", jwt({"tenant_id": [settings["tenant"]]}))
refused("a token of another tenant", jwt({"tenant_id": "rival"}))
refused("a token whose claims were changed", head + "." + url(json.dumps({"scp": "admin"}).encode()) + "." + tail)
refused("a token of two parts", head + "." + body_)
refused("a token of five parts", TOKEN + ".a.b")
refused("a token that is no JWT", "token")

put("a second before the window", envelope(at=now - 300), 401, -32000, 1003)
put("a second behind the window", envelope(at=now + 300), 401, -32000, 1003)
put("an execution without a session", envelope(metadata={"execution_id": "unknown"}), 403, -32000)
put("an execution whose letters have another case", envelope(metadata={"execution_id": settings["execution_id"].upper()}), 403, -32000)
put("a tool that no pattern permits", envelope(payload(name="web.fetch")), 403, -32000)
put("a tool that is not there", envelope(payload(name="orders.nothing")), 403, -32000)
put("a tool with a blank behind its name", envelope(payload(name="orders.get ")), 403, -32000)
put("a tool whose letters have another case", envelope(payload(name="Orders.get")), 403, -32000)
put("no argument that is required", envelope(payload({})), 422, -32602)
put("a required argument that is null", envelope(payload({"id": None})), 422, -32602)
put("an argument of another type", envelope(payload({"id": 7})), 422, -32602)
put("arguments that are a list", envelope(payload(["id"])), 422, -32602)


def small_order():
    """The points of small order, and encodings that are not canonical (RFC 8032 5.1.3)."""
    eighth = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
    for y in (0, 1, P - 1, eighth, P - eighth, P, P + 1):
        for sign in (0, 1):
            yield (y | sign << 255).to_bytes(32, "little")
    yield (P + 3).to_bytes(32, "little")


print(json.dumps({"public_key": b64(session.public), "pem": pem, "token": TOKEN, "variants": variants,
                  "weak_keys": [b64(raw) for raw in small_order()]}))
