import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../definition/canonical.ts';
import { EnvelopeError } from './envelope-error.ts';
import { readPublicKey } from './public-key.ts';
import { callIn, readEnvelope, readSealedRequest } from './read-envelope.ts';

interface Vectors {
  readonly public_key_b64: string;
  readonly vectors: readonly { readonly title: string; readonly envelope: object; readonly canonical: string }[];
}
const file = join(import.meta.dirname, '../../docs/reference/envelope-vectors.json');
const published = JSON.parse(readFileSync(file, 'utf8')) as Vectors;

describe('the canonical form', () => {
  it('AMB-012 is that of another implementation of RFC 8785, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 3_000 },
    );
  });

  it('AMB-012 sorts names by UTF-16 units, and writes numbers as ECMAScript does', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.double({ noNaN: true, noDefaultInfinity: true })),
        (value) => {
          expect(canonicalJson(value)).toBe(canonicalize(value));
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

describe('the published vectors, made by another program', () => {
  it.each(published.vectors.map((vector) => [vector.title, vector] as const))('AMB-012 %s', (_title, vector) => {
    const envelope = readEnvelope(Buffer.from(JSON.stringify(vector.envelope)));
    expect(envelope.signedBytes().toString()).toBe(vector.canonical);
    expect(
      verify(null, envelope.signedBytes(), readPublicKey(published.public_key_b64, 'key'), envelope.signature),
    ).toBe(true);
    expect(Math.floor(envelope.sentAt / 1_000)).toBe(1_767_225_600);
    const changed = Buffer.from(vector.canonical.replace('1767225600', '1767225601'));
    expect(
      verify(
        null,
        changed,
        createPublicKey(readPublicKey(published.public_key_b64, 'key').export({ format: 'pem', type: 'spki' })),
        envelope.signature,
      ),
    ).toBe(false);
  });
});

const signature = Buffer.alloc(64, 1).toString('base64');
const good = {
  protocol: 'seal/v1',
  security_token: 'a.b.c',
  signature,
  timestamp: 1_767_225_600,
  payload: { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'fs.read', arguments: { path: 'a' } } },
  metadata: { execution_id: 'e-1' },
};
const read = (body: unknown): string => {
  try {
    readEnvelope(Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
    return 'accepted';
  } catch (error) {
    if (error instanceof EnvelopeError) return `${error.fault}: ${error.message}`;
    throw error;
  }
};
const withParams = (params: unknown) => ({ ...good, payload: { ...good.payload, params } });

describe('a malformed envelope', () => {
  const idOf = (body: unknown): unknown => {
    try {
      return readEnvelope(Buffer.from(JSON.stringify(body)));
    } catch (error) {
      return error instanceof EnvelopeError ? error.id : error;
    }
  };
  const withId = (id: unknown) => ({ ...good, payload: { ...good.payload, id }, signature: 'none' });

  it.each<[string, unknown, unknown]>([
    ['of another protocol', { ...good, protocol: 'seal/v2' }, 'x'],
    ['without metadata', { ...good, metadata: undefined }, 'x'],
    ['of another method', { ...good, payload: { ...good.payload, method: 'tools/list' } }, 'x'],
    ['with the id 0', withId(0), 0],
    ['with an empty id', withId(''), ''],
    ['with an id that is null', withId(null), undefined],
    ['with an id that is a list', withId([1]), undefined],
    ['without a payload', { ...good, payload: undefined }, undefined],
    ['with a payload that is a text', { ...good, payload: 'x' }, undefined],
  ])('GW-INV-01 %s is refused under the id of its request: %#', (_title, body, want) => {
    expect(idOf(body)).toBe(want);
  });

  it('GW-INV-01 of signed headers is refused under the id of its request', () => {
    const seal = { token: 'a.b.c', signature, timestamp: 'soon', execution_id: 'e' };
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list' }));
    expect(() => readSealedRequest(body, seal)).toThrow(expect.objectContaining({ id: 7 }) as Error);
  });
});

describe('an envelope', () => {
  it('GW-INV-01 GW-INV-05 is read with its call', () => {
    expect(readEnvelope(Buffer.from(JSON.stringify(good)))).toMatchObject({
      session: { tenant: '', execution_id: 'e-1' },
      token: 'a.b.c',
      sentAt: 1_767_225_600_000,
      id: 'x',
      tool: 'fs.read',
      arguments: { path: 'a' },
    });
  });

  it.each<[string, unknown, string]>([
    ['with nothing wrong', good, 'accepted'],
    ['without arguments', withParams({ name: 'fs.read' }), 'accepted'],
    ['with further metadata', { ...good, metadata: { execution_id: 'e', trace: 1 } }, 'accepted'],
    ['that is no JSON', '{', 'malformed: Malformed envelope: envelope'],
    ['that is a list', '[]', 'malformed: Malformed envelope: envelope must be an object'],
    ['that is not UTF-8', Buffer.from([0xff, 0xfe]), 'malformed: Malformed envelope: envelope is not UTF-8'],
    ['of another protocol', { ...good, protocol: 'seal/v2' }, 'malformed: Malformed envelope: protocol'],
    [
      'GW-INV-02 without its token',
      { ...good, security_token: undefined },
      'malformed: Malformed envelope: security_token',
    ],
    [
      'with a token that is too long',
      { ...good, security_token: 'x'.repeat(8_193) },
      'malformed: Malformed envelope: security_token',
    ],
    ['with the longest token', { ...good, security_token: 'x'.repeat(8_192) }, 'accepted'],
    ['GW-INV-03 without its signature', { ...good, signature: undefined }, 'malformed: Malformed envelope: signature'],
    [
      'with a signature of 63 bytes',
      { ...good, signature: Buffer.alloc(63).toString('base64') },
      'malformed: Malformed envelope: signature',
    ],
    [
      'with a signature in base64url',
      { ...good, signature: Buffer.alloc(64, 255).toString('base64url') },
      'malformed: Malformed envelope: signature',
    ],
    ['GW-INV-04 without its timestamp', { ...good, timestamp: undefined }, 'malformed: Malformed envelope: timestamp'],
    [
      'with a fraction of a second as a number',
      { ...good, timestamp: 1.5 },
      'malformed: Malformed envelope: timestamp',
    ],
    [
      'with a time without its zone',
      { ...good, timestamp: '2026-01-01T00:00:00' },
      'malformed: Malformed envelope: timestamp',
    ],
    [
      'with a time that does not exist',
      { ...good, timestamp: '2026-13-01T00:00:00Z' },
      'malformed: Malformed envelope: timestamp',
    ],
    [
      'with a day that does not exist',
      { ...good, timestamp: '2026-02-29T00:00:00Z' },
      'malformed: Malformed envelope: timestamp must be an RFC 3339 time with its zone',
    ],
    ['with a time in lower case', { ...good, timestamp: '2026-01-01t00:00:00z' }, 'accepted'],
    ['with a time beyond all dates', { ...good, timestamp: 1e15 }, 'malformed: Malformed envelope: timestamp'],
    [
      'GW-INV-05 without its execution',
      { ...good, metadata: {} },
      'malformed: Malformed envelope: metadata.execution_id',
    ],
    [
      'with an empty execution',
      { ...good, metadata: { execution_id: '' } },
      'malformed: Malformed envelope: metadata.execution_id',
    ],
    ['without its payload', { ...good, payload: undefined }, 'malformed: Malformed envelope: payload'],
    [
      'of another JSON-RPC',
      { ...good, payload: { ...good.payload, jsonrpc: '1.0' } },
      'malformed: Malformed envelope: payload.jsonrpc',
    ],
    [
      'of no JSON-RPC',
      { ...good, payload: { ...good.payload, jsonrpc: undefined } },
      'malformed: Malformed envelope: payload.jsonrpc must be "2.0"',
    ],
    [
      'of a number as its JSON-RPC',
      { ...good, payload: { ...good.payload, jsonrpc: 2 } },
      'malformed: Malformed envelope: payload.jsonrpc must be "2.0"',
    ],
    ['that names its tenant as null', { ...good, tenant_id: null }, 'accepted'],
    ['that names no tenant by an empty text', { ...good, metadata: { execution_id: 'e', tenant_id: '' } }, 'accepted'],
    [
      'that names its tenant by a number',
      { ...good, payload: { ...good.payload, tenant_id: 7 } },
      'malformed: Malformed envelope: payload.tenant_id must be a text',
    ],
    [
      'with an object as its id',
      { ...good, payload: { ...good.payload, id: {} } },
      'malformed: Malformed envelope: payload.id',
    ],
    [
      'of another method',
      { ...good, payload: { ...good.payload, method: 'tools/list' } },
      'malformed: Malformed envelope: payload.method',
    ],
    ['GW-INV-23 without the name of a tool', withParams({}), 'malformed: Malformed envelope: payload.params.name'],
    ['GW-INV-23 with an empty name', withParams({ name: '' }), 'malformed: Malformed envelope: payload.params.name'],
    [
      'with a duplicate key',
      JSON.stringify(good).replace('"path":"a"', '"path":"a","path":"b"'),
      'malformed: Malformed envelope: payload.params.arguments.path ',
    ],
    [
      'with a key that changes prototypes',
      JSON.stringify(good).replace('"path":"a"', '"__proto__":{}'),
      'malformed: Malformed envelope: payload.params.arguments',
    ],
    [
      'with a number beyond 2^53',
      JSON.stringify(good).replace('"path":"a"', '"n":9007199254740993'),
      'malformed: Malformed envelope: payload.params.arguments.n ',
    ],
    [
      'with half a character',
      JSON.stringify(good).replace('"path":"a"', '"n":["x","\\ud800"]'),
      'malformed: Malformed envelope: payload.params.arguments.n[1] ',
    ],
  ])('GW-INV-23 %s', (_what, body, want) => {
    expect(read(body).startsWith(want)).toBe(true);
  });

  it.each([
    [60, 'accepted'],
    [61, 'malformed'],
    [100_000, 'malformed'],
  ])('GW-INV-23 whose arguments are %i levels deep is %s', (levels, want) => {
    const text = JSON.stringify(good).replace('"path":"a"', `"x":${'['.repeat(levels)}${']'.repeat(levels)}`);
    expect(read(text).split(':')[0]).toBe(want);
  });

  it.each([
    [100_000, 'accepted'],
    [200_000, 'malformed'],
  ])('GW-INV-23 of %i objects is %s, for what they take once they are parsed', (objects, want) => {
    const args = { list: Array.from({ length: objects }, () => ({})) };
    expect(read(withParams({ name: 'fs.read', arguments: args })).split(':')[0]).toBe(want);
  });

  it.each([
    [2_097_152, 'accepted'],
    [2_097_153, 'malformed'],
  ])('of %i bytes is %s', (bytes, want) => {
    const text = JSON.stringify(good);
    expect(read(text + ' '.repeat(bytes - Buffer.byteLength(text))).split(':')[0]).toBe(want);
  });
});

describe('a request that is sealed in its headers', () => {
  const seal = { token: 'a.b.c', signature, timestamp: '1767225600', execution_id: 'e-1' };
  const call = { ...good.payload };

  it.each<[object, object, string]>([
    [{ token: '' }, call, 'header.authorization'],
    [{ signature: 'x' }, call, 'header.seal-signature'],
    [{ timestamp: '2026-01-01' }, call, 'header.seal-timestamp'],
    [{ execution_id: '' }, call, 'header.seal-execution-id'],
    [{}, { ...call, id: {} }, 'id'],
    [{}, { ...call, params: 1 }, 'params'],
    [{}, { ...call, params: {} }, 'params.name'],
  ])('GW-INV-23 with %j over %j names its field, %s', (parts, payload, field) => {
    const body = Buffer.from(JSON.stringify(payload));
    expect(() => callIn(readSealedRequest(body, { ...seal, ...parts }))).toThrow(
      `Malformed envelope: ${field} must be`,
    );
  });
});
