import { canonicalJson } from '../definition/canonical.ts';
import { AppError, messageOf } from '../errors.ts';
import { isTooCostly, jsonCost, tooCostly } from '../http/json-cost.ts';
import { JsonTextError, parseStrictJson } from '../http/strict-json.ts';
import { instantForm, parseInstant } from '../instant.ts';
import { isJsonObject } from '../json-object.ts';
import { EnvelopeError } from './envelope-error.ts';
import { envelopeLimits } from './limits.ts';
import type { NamedTenant } from './named-tenant.ts';
import type { SessionName } from './sessions.ts';
import { claimedTenant } from './token.ts';

/** A signed call as it was sent, of the right form; nothing of it is proved yet (requirements AMB-012). */
export interface Envelope {
  /** The session that it names. The tenant is the one that the token claims, '' where it claims none. */
  readonly session: SessionName;
  readonly token: string;
  readonly signature: Buffer;
  /** The second that the signed bytes hold, in milliseconds since the Unix epoch. A fraction of it is not signed. */
  readonly sentAt: number;
  /** The signed text: RFC 8785 of payload, security_token and timestamp; made when it is first asked for. */
  readonly signedBytes: () => Buffer;
  /** Id of the JSON-RPC request; null where it has none. */
  readonly id: string | number | null;
  readonly tool: string;
  readonly arguments: unknown;
  /** Tenants that members of the envelope name in `tenant_id`, in the order of their reading; its arguments are not looked at. */
  readonly named: readonly NamedTenant[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads an envelope. JSON that two readers could understand differently is refused: repeated keys, numbers that cannot be
 * read exactly, halves of characters; so is JSON nested deeper than 64 levels.
 * @throws EnvelopeError `malformed`, which names the field.
 * `isUnsigned` lets token and signature be absent or of any form (spec 3 §5.3); nothing may be proved by them then.
 */
export function readEnvelope(bytes: Uint8Array, isUnsigned = false): Envelope {
  const body = objectAt(parsed(bytes), 'envelope');
  return underIdOf(body['payload'], () => {
    if (body['protocol'] !== 'seal/v1') throw malformed('protocol', 'must be "seal/v1"');
    const payload = objectAt(body['payload'], 'payload');
    const { security_token: token, signature, timestamp } = body;
    const metadata = objectAt(body['metadata'], 'metadata');
    const seal = { token, signature, timestamp, execution_id: metadata['execution_id'] };
    const named = [...tenantAt(body, ''), ...tenantAt(metadata, 'metadata.'), ...tenantsIn(payload, 'payload.')];
    return { ...sealedOf({ seal, names: bodyNames, named }, payload, isUnsigned), ...callOf(payload, 'payload.') };
  });
}

/** A malformed frame of a request is refused under the id of the request. */
function underIdOf<T>(payload: unknown, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { id } = isJsonObject(payload) ? payload : {};
    if (!(error instanceof EnvelopeError) || !(typeof id === 'string' || typeof id === 'number')) throw error;
    throw new EnvelopeError(error.fault, error.message, { id });
  }
}

/** Paths of the parts of a seal, for messages. */
type SealNames = Readonly<Record<keyof Seal, string>>;

const bodyNames: SealNames = {
  token: 'security_token',
  signature: 'signature',
  timestamp: 'timestamp',
  execution_id: 'metadata.execution_id',
};

const headerNames: SealNames = {
  token: 'header.authorization',
  signature: 'header.seal-signature',
  timestamp: 'header.seal-timestamp',
  execution_id: 'header.seal-execution-id',
};

/** The parts of an envelope that vouch for its payload; in the headers of a request, where the payload is its body. */
interface Seal {
  readonly token: unknown;
  readonly signature: unknown;
  /** Seconds as a number or in digits, or an RFC 3339 time with its zone. */
  readonly timestamp: unknown;
  readonly execution_id: unknown;
}

/** The parts that a token and a signature prove, whatever was signed. */
export type Sealed = Omit<Envelope, 'id' | 'tool' | 'arguments'>;

/** A JSON-RPC request or notification of any method, and what vouches for it; nothing of it is proved yet. */
export interface SealedRequest extends Sealed {
  readonly id: Envelope['id'];
  readonly method: string;
  readonly payload: Fields;
}

/** Reads a body that is signed as the payload of an envelope is. @throws EnvelopeError `malformed`. */
export function readSealedRequest(bytes: Uint8Array, seal: Seal, isUnsigned = false): SealedRequest {
  const payload = objectAt(parsed(bytes), 'body');
  const { jsonrpc, method } = payload;
  return underIdOf(payload, () => {
    if (jsonrpc !== '2.0') throw malformed('jsonrpc', 'must be "2.0"');
    if (typeof method !== 'string' || method === '') throw malformed('method', 'must be the name of a method');
    const digits = typeof seal.timestamp === 'string' && /^\d{1,12}$/.test(seal.timestamp);
    const timestamp = digits ? Number(seal.timestamp) : seal.timestamp;
    const named = tenantsIn(payload, '');
    const sealed = sealedOf({ seal: { ...seal, timestamp }, names: headerNames, named }, payload, isUnsigned);
    return { ...sealed, id: idOf(payload, ''), method, payload };
  });
}

/** The call of a tool that a request is. @throws EnvelopeError `malformed` for another request. */
export const callIn = ({ payload, ...sealed }: SealedRequest): Envelope => ({ ...sealed, ...callOf(payload, '') });

interface NamedSeal {
  readonly seal: Seal;
  readonly names: SealNames;
  readonly named: readonly NamedTenant[];
}

function sealedOf({ seal, names, named }: NamedSeal, payload: Fields, isUnsigned: boolean): Sealed {
  const token = isUnsigned ? '' : textAt(seal.token, names.token, envelopeLimits.tokenLength);
  const timestamp = secondOf(seal.timestamp, names.timestamp);
  // It costs as much as parsing; a call of no session or of a false token does not get so far.
  let signed: Buffer | undefined;
  return {
    session: {
      tenant: claimedTenant(token),
      execution_id: textAt(seal.execution_id, names.execution_id, envelopeLimits.executionIdLength),
    },
    token,
    signature: isUnsigned ? Buffer.alloc(0) : signatureOf(seal.signature, names.signature),
    sentAt: timestamp * 1_000,
    signedBytes: () => (signed ??= Buffer.from(canonicalJson({ payload, security_token: token, timestamp }))),
    named,
  };
}

/** Tenants that a request names: beside its method, beside the name of its tool and in the notes of its sender. */
function tenantsIn(payload: Fields, base: 'payload.' | ''): NamedTenant[] {
  const params = isJsonObject(payload['params']) ? payload['params'] : {};
  const notes = isJsonObject(params['_meta']) ? params['_meta'] : {};
  return [
    ...tenantAt(payload, base),
    ...tenantAt(params, `${base}params.`),
    ...tenantAt(notes, `${base}params._meta.`),
  ];
}

/** The tenant that a member names. Null and an empty text name none. */
function tenantAt(fields: Fields, base: string): NamedTenant[] {
  const { tenant_id: tenant = null } = fields;
  if (tenant === null) return [];
  if (typeof tenant !== 'string') throw malformed(`${base}tenant_id`, 'must be a text');
  return [{ at: `${base}tenant_id`, tenant }];
}

function parsed(bytes: Uint8Array): unknown {
  if (bytes.byteLength > envelopeLimits.envelopeBytes)
    throw malformed('envelope', `has more than ${envelopeLimits.envelopeBytes} bytes`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (bytes.byteLength > envelopeLimits.unprovedBytes && isTooCostly(jsonCost(text)))
      throw new AppError('invalid', tooCostly);
    return parseStrictJson(text);
  } catch (error) {
    if (error instanceof JsonTextError && error.path !== '') throw malformed(error.path, error.message);
    if (error instanceof AppError) throw malformed('envelope', messageOf(error));
    throw malformed('envelope', 'is not UTF-8');
  }
}

/** `base` begins the paths of messages. */
function callOf(payload: Fields, base: 'payload.' | ''): Pick<Envelope, 'id' | 'tool' | 'arguments'> {
  const { jsonrpc, method } = payload;
  if (jsonrpc !== '2.0') throw malformed(`${base}jsonrpc`, 'must be "2.0"');
  const id = idOf(payload, base);
  if (method !== 'tools/call') throw malformed(`${base}method`, 'must be "tools/call"');
  const params = objectAt(payload['params'], `${base}params`);
  const tool = params['name'];
  if (typeof tool !== 'string' || tool === '') throw malformed(`${base}params.name`, 'must be the name of a tool');
  return { id, tool, arguments: params['arguments'] ?? {} };
}

function idOf({ id = null }: Fields, base: 'payload.' | ''): Envelope['id'] {
  if (id === null || typeof id === 'string' || typeof id === 'number') return id;
  throw malformed(`${base}id`, 'must be a string, a number or null');
}

/** Whole seconds since the Unix epoch: what is signed, whatever form was sent (requirements AMB-012). */
function secondOf(timestamp: unknown, field: string): number {
  if (typeof timestamp === 'number' && Number.isInteger(timestamp) && isInstant(timestamp)) return timestamp;
  const isText = typeof timestamp === 'string' && timestamp.length <= envelopeLimits.timestampLength;
  const sentAt = isText ? parseInstant(timestamp) : undefined;
  if (sentAt !== undefined) return Math.floor(sentAt / 1_000);
  throw malformed(field, `${instantForm}, or whole Unix seconds`);
}

const isInstant = (seconds: number): boolean => !Number.isNaN(new Date(seconds * 1_000).getTime());

function signatureOf(value: unknown, field: string): Buffer {
  const signature = Buffer.from(textAt(value, field, envelopeLimits.signatureLength), 'base64');
  if (signature.length === 64 && signature.toString('base64') === value) return signature;
  throw malformed(field, 'must be the base64 of an Ed25519 signature of 64 bytes');
}

function objectAt(value: unknown, field: string): Fields {
  if (isJsonObject(value)) return value;
  throw malformed(field, 'must be an object');
}

export function textAt(value: unknown, field: string, most: number): string {
  if (typeof value === 'string' && value !== '' && value.length <= most) return value;
  throw malformed(field, `must be a text of 1 to ${most} characters`);
}

const malformed = (field: string, problem: string): EnvelopeError =>
  new EnvelopeError('malformed', `Malformed envelope: ${field} ${problem}`);
