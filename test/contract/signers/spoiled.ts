/** An envelope as a signer wrote it. */
export interface Written {
  readonly security_token: string;
  readonly signature: string;
  readonly timestamp: number;
  readonly payload: {
    readonly params: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
  };
  readonly metadata: object;
  readonly [name: string]: unknown;
}

/** An unsigned body, and its answer: HTTP status, JSON-RPC code, `data.code` (spec 3 §7). */
export interface Spoiled {
  readonly title: string;
  readonly body: string | Buffer;
  readonly want: readonly [status: number, rpc: number, code: number | null];
}

type Change = (envelope: Written) => unknown;

const malformed = [400, -32_600, null] as const;
const forged = [401, -32_000, 1_004] as const;

/** Every way in which the envelope is spoiled here. */
export function spoil(envelope: Written): Spoiled[] {
  const text = JSON.stringify(envelope);
  const parts: readonly (readonly [Readonly<Record<string, Change>>, Spoiled['want']])[] = [
    [fields, malformed],
    [calls, malformed],
    [signatures, malformed],
    [otherSignatures, forged],
    [otherBytes, forged],
  ];
  const changed = parts.flatMap(([changes, want]) =>
    Object.entries(changes).map(([title, change]) => ({ title, body: JSON.stringify(change(envelope)), want })),
  );
  const written = Object.entries(texts).map(([title, change]) => ({ title, body: change(text), want: malformed }));
  return [...changed, ...written];
}

const set =
  (more: object): Change =>
  (envelope) => ({ ...envelope, ...more });

/** `undefined` leaves a field out of the JSON. */
const fields: Readonly<Record<string, Change>> = {
  'no protocol': set({ protocol: undefined }),
  'another protocol': set({ protocol: 'seal/v2' }),
  'no payload': set({ payload: undefined }),
  'a payload as text': (envelope) => ({ ...envelope, payload: JSON.stringify(envelope.payload) }),
  'no token': set({ security_token: undefined }),
  'an empty token': set({ security_token: '' }),
  'a token that is a number': set({ security_token: 7 }),
  'a token of 8193 characters': set({ security_token: 'a'.repeat(8_193) }),
  'no timestamp': set({ timestamp: undefined }),
  'half a second': (envelope) => ({ ...envelope, timestamp: envelope.timestamp + 0.5 }),
  'a timestamp as digits': (envelope) => ({ ...envelope, timestamp: String(envelope.timestamp) }),
  'a timestamp without its zone': set({ timestamp: '2026-01-01T00:00:00' }),
  'a timestamp that is null': set({ timestamp: null }),
  'no metadata': set({ metadata: undefined }),
  'metadata that are a list': (envelope) => ({ ...envelope, metadata: [envelope.metadata] }),
  'no execution_id': set({ metadata: {} }),
  'an execution_id that is a number': set({ metadata: { execution_id: 7 } }),
  'an empty execution_id': set({ metadata: { execution_id: '' } }),
  'a list of envelopes': (envelope) => [envelope],
  'an envelope as text': (envelope) => JSON.stringify(envelope),
};

const payload =
  (more: object): Change =>
  (envelope) => ({ ...envelope, payload: { ...envelope.payload, ...more } });

const calls: Readonly<Record<string, Change>> = {
  'another method': payload({ method: 'tools/list' }),
  'no method': payload({ method: undefined }),
  'JSON-RPC 1.0': payload({ jsonrpc: '1.0' }),
  'an id that is an object': payload({ id: {} }),
  'no params': payload({ params: undefined }),
  'params that are a list': payload({ params: ['orders.get'] }),
  'no name of a tool': payload({ params: { arguments: {} } }),
  'a name that is a number': payload({ params: { name: 7, arguments: {} } }),
  'an empty name': payload({ params: { name: '', arguments: {} } }),
};

const signature =
  (change: (bytes: Buffer, text: string) => unknown): Change =>
  (envelope) => ({
    ...envelope,
    signature: change(Buffer.from(envelope.signature, 'base64'), envelope.signature),
  });

const signatures: Readonly<Record<string, Change>> = {
  'no signature': set({ signature: undefined }),
  'an empty signature': set({ signature: '' }),
  'a signature in base64url': signature(() => `${Buffer.alloc(64, 255).toString('base64url')}==`),
  'a signature without padding': signature((_, text) => text.replaceAll('=', '')),
  'a signature with a line feed': signature((_, text) => `${text}\n`),
  'a signature in hexadecimal': signature((bytes) => bytes.toString('hex')),
  'a signature of 63 bytes': signature((bytes) => bytes.subarray(1).toString('base64')),
  'a signature of 65 bytes': signature((bytes) => Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64')),
};

/** Order of the base point (RFC 8032 §5.1). */
const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

function malleable(bytes: Buffer): string {
  const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
  const other = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse();
  return Buffer.concat([bytes.subarray(0, 32), other]).toString('base64');
}

function flipped(bytes: Buffer, at: number): string {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy.toString('base64');
}

const otherSignatures: Readonly<Record<string, Change>> = {
  'a changed bit of the point': signature((bytes) => flipped(bytes, 3)),
  'a changed bit of S': signature((bytes) => flipped(bytes, 40)),
  'S + L in place of S': signature(malleable),
  'a signature of zeros': signature(() => Buffer.alloc(64).toString('base64')),
  'the halves of the signature in the other order': signature((bytes) =>
    Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)]).toString('base64'),
  ),
};

const params =
  (change: (params: Written['payload']['params']) => object): Change =>
  (envelope) => ({ ...envelope, payload: { ...envelope.payload, params: change(envelope.payload.params) } });

const otherBytes: Readonly<Record<string, Change>> = {
  'another argument than the signed one': params((all) => ({ ...all, arguments: { id: 'other' } })),
  'an argument beside the signed ones': params((all) => ({ ...all, arguments: { ...all.arguments, more: 1 } })),
  'no arguments where some were signed': params(({ name }) => ({ name })),
  'another tool than the signed one': params((all) => ({ ...all, name: 'orders.shared' })),
  'another id than the signed one': payload({ id: 2 }),
  'an id as text': payload({ id: '1' }),
  'a member beside the signed ones': payload({ more: 1 }),
  'another second than the signed one': (envelope) => ({ ...envelope, timestamp: envelope.timestamp + 1 }),
};

const replace =
  (old: string, by: string): ((text: string) => string) =>
  (text) => {
    if (!text.includes(old)) throw new Error(`no ${old} in ${text}`);
    return text.replace(old, () => by);
  };

/** Texts that two readers of JSON could understand differently, or that are no JSON. */
const texts: Readonly<Record<string, (text: string) => string | Buffer>> = {
  'a repeated argument': replace('"id":"MARK"', '"id":"MARK","id":"other"'),
  'an argument repeated by an escape': replace('"id":"MARK"', String.raw`"id":"MARK","\u0069d":"other"`),
  'a repeated payload': replace('"payload":', '"payload":{},"payload":'),
  'a repeated timestamp': replace('"timestamp":', '"timestamp":0,"timestamp":'),
  'the name __proto__': replace('"id":"MARK"', '"id":"MARK","__proto__":{}'),
  'half a character': replace('"MARK"', String.raw`"\ud83d"`),
  'an infinite number': replace('"id":"MARK"', '"id":"MARK","n":1e400'),
  'a whole number beyond 2^53': replace('"id":"MARK"', '"id":"MARK","n":9007199254740993'),
  NaN: replace('"MARK"', 'NaN'),
  'single quotes': replace('"MARK"', "'MARK'"),
  'a comma too many': replace('"id":"MARK"', '"id":"MARK",'),
  'a comment': replace('"id":"MARK"', '"id":"MARK"/* */'),
  'an empty body': () => '',
  'half an envelope': (text) => text.slice(0, 120),
  'two envelopes': (text) => text + text,
  'a byte order mark': (text) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]),
  'UTF-16': (text) => Buffer.from(text, 'utf16le'),
  'a letter in Latin-1': (text) => Buffer.from(text.replace('MARK', 'é'), 'latin1'),
};
