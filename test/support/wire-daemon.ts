import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { field, fields, secondsAndNanos, WireMessage } from './wire.ts';

/** A daemon that writes and reads each byte by itself, as docs/edge-protocol.md says: none of our protocol code. */
export interface WireHost {
  readonly nodeId: string;
  readonly token: string;
  readonly key: KeyObject;
  readonly relayKey: KeyObject;
  /** ChallengeNodeResponse. */
  readonly answer: WireMessage;
}

type Unary = 'AttestNode' | 'ChallengeNode' | 'RotateEdgeKey';

const service = '/windlass.node.v1.NodeClusterService';
const same = (bytes: Buffer): Buffer => bytes;

export const wireClient = (port: number, options: object = {}): Client =>
  new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_send_message_length': -1,
    ...options,
  });

/** One unary call; rejects with the ServiceError. */
export function call(client: Client, method: Unary, request: Uint8Array, from?: string): Promise<WireMessage> {
  const metadata = new Metadata();
  if (from !== undefined) metadata.set('x-forwarded-for', from);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `${service}/${method}`,
      same,
      same,
      Buffer.from(request),
      metadata,
      (error: ServiceError | null, answer?: Buffer) => {
        if (error === null) resolve(new WireMessage(answer ?? Buffer.alloc(0)));
        else reject(error);
      },
    );
  });
}

/** Name of the status of a call. */
export const codeOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'OK',
    (error: { readonly code: number }) => status[error.code] ?? 'unknown',
  );

export const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

/** The 32 bytes of the public half. */
export const rawOf = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(12);

const publicKeyFrom = (raw: Uint8Array): KeyObject =>
  createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]),
    format: 'der',
    type: 'spki',
  });

/** Request of AttestNode. */
export const attestation = (publicKey: Uint8Array, more: readonly Uint8Array[] = []): Buffer =>
  fields(field(1, 1), field(2, publicKey), ...more);

interface Challenge {
  readonly key: KeyObject;
  readonly attested: WireMessage;
  readonly token: string;
  readonly role?: number;
}

/** Request of ChallengeNode. */
export function challenge({ key, attested, token, role = 1 }: Challenge): Buffer {
  const signed = fields(Buffer.from('windlass-edge-challenge-v1\0'), attested.bytes(2));
  return fields(field(1, attested.text(1)), field(2, sign(null, signed, key)), field(3, role), field(4, token));
}

export async function enrollByWire(client: Client, token: string, from?: string, key = newKey()): Promise<WireHost> {
  const attested = await call(client, 'AttestNode', attestation(rawOf(key)), from);
  const answer = await call(client, 'ChallengeNode', challenge({ key, attested, token }));
  return { nodeId: answer.text(1), token: answer.text(2), key, relayKey: publicKeyFrom(answer.bytes(5)), answer };
}

interface EnvelopeFacts {
  readonly key: KeyObject;
  readonly nodeId: string;
  readonly token: string;
  readonly domain: string;
  readonly streamId: string;
  readonly sequence: bigint;
  readonly now?: number;
}

/** SealNodeEnvelope over the bytes of a message without its envelope. */
export function envelopeOf(rest: Uint8Array, { now = Date.now(), ...facts }: EnvelopeFacts): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(facts.sequence);
  const signed = fields(
    Buffer.from(`${facts.domain}\0${facts.streamId}`),
    number,
    createHash('sha256').update(rest).digest(),
  );
  const time = secondsAndNanos(Math.floor(now / 1_000), (now % 1_000) * 1_000_000);
  return fields(
    field(1, facts.nodeId),
    field(2, facts.token),
    field(3, sign(null, signed, facts.key)),
    field(4, time),
    field(5, facts.sequence),
  );
}

export interface Rotation {
  readonly host: WireHost;
  readonly newKey: KeyObject;
  /** Sent in place of the public half of the new key. */
  readonly publicKey?: Uint8Array;
  readonly proof?: Uint8Array;
  /** Signs the envelope in place of the host's key. */
  readonly oldKey?: KeyObject;
  readonly now?: number;
  readonly sequence?: bigint;
}

/** Request of RotateEdgeKey. */
export function rotation({ host, newKey: next, oldKey = host.key, ...given }: Rotation): Buffer {
  const publicKey = given.publicKey ?? rawOf(next);
  const proof = given.proof ?? sign(null, fields(Buffer.from(host.nodeId), publicKey), next);
  const rest = fields(field(2, publicKey), field(3, proof));
  const { nodeId, token } = host;
  const { sequence = 1n } = given;
  const facts = { key: oldKey, nodeId, token, domain: 'windlass-edge-rotation-v1', streamId: '', sequence };
  return fields(rest, field(1, envelopeOf(rest, given.now === undefined ? facts : { ...facts, now: given.now })));
}

/** Domains and fields of the events in EdgeEvent. */
const events = {
  hello: ['windlass-edge-hello-v1', 1],
  heartbeat: ['windlass-edge-heartbeat-v1', 2],
  commandResult: ['windlass-edge-command-result-v1', 3],
  commandProgress: ['windlass-edge-command-progress-v1', 4],
  capabilityUpdate: ['windlass-edge-capability-update-v1', 5],
} as const;

/** One stream. */
export class WireStream {
  /** EdgeCommands whose envelope is proven, in order. */
  readonly commands: WireMessage[] = [];
  readonly ended: Promise<string>;
  /** Words of the status that ended the stream. */
  details = '';
  readonly streamId: string = randomUUID();
  sequence = 0n;
  /** The host that signs; a rotation changes it. */
  host: WireHost;
  readonly #call: ClientDuplexStream<Buffer, Buffer>;
  #after = 0n;

  constructor(client: Client, host: WireHost) {
    this.host = host;
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${host.token}`);
    this.#call = client.makeBidiStreamRequest(`${service}/ConnectEdge`, same, same, metadata);
    this.ended = new Promise((resolve) => {
      this.#call.once('status', ({ code, details }) => {
        this.details = details;
        resolve(status[code]);
      });
    });
    this.#call.on('error', () => undefined);
    this.#call.on('data', (bytes: Buffer) => this.#take(new WireMessage(bytes)));
  }

  /** Field 10 of each message proves the server, over everything else in the message. */
  #take(message: WireMessage): void {
    const envelope = message.message(10);
    const sequence = envelope.number(5);
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(sequence);
    const digest = createHash('sha256').update(message.without(10)).digest();
    const signed = fields(Buffer.from(`windlass-edge-command-v1\0${this.streamId}`), number, digest);
    if (!verify(null, signed, this.host.relayKey, envelope.bytes(3))) throw new Error('the relay has not signed');
    if (envelope.text(1) !== this.host.nodeId || sequence <= this.#after) throw new Error('another place');
    this.#after = sequence;
    this.commands.push(message);
  }

  raw(bytes: Uint8Array): void {
    this.#call.write(Buffer.from(bytes));
  }

  /** `rest` are the fields of the event beside its envelope. */
  send(kind: keyof typeof events, rest: Uint8Array, changes: Partial<EnvelopeFacts> = {}): Buffer {
    this.sequence += 1n;
    const [domain, number] = events[kind];
    const { key, nodeId, token } = this.host;
    const { streamId, sequence } = this;
    const envelope = envelopeOf(rest, { key, nodeId, token, domain, streamId, sequence, ...changes });
    const bytes = field(number, fields(field(1, envelope), rest));
    this.raw(bytes);
    return bytes;
  }

  hello(capabilities: Uint8Array = fields(field(1, 'linux'), field(2, 'amd64'), field(3, 'cmd.run'))): Buffer {
    return this.send('hello', fields(field(2, capabilities), field(3, this.streamId)));
  }

  heartbeat(changes: Partial<EnvelopeFacts> = {}): Buffer {
    return this.send('heartbeat', field(2, secondsAndNanos(Math.floor(Date.now() / 1_000))), changes);
  }

  close(): void {
    this.#call.cancel();
  }
}
