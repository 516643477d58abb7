import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  type EdgeEventCase,
  openEdgeCommand,
  sealEdgeEvent,
  sealRotation,
  signChallenge,
} from '../../lib/edge/index.ts';
import { rawPublicKey, readRawPublicKey } from '../../lib/envelope/index.ts';
import {
  type ChallengeNodeResponse,
  type EdgeCommand,
  NodeClusterServiceClient,
  RotateEdgeKeyResponse,
} from '../../proto/generated/windlass/node/v1/node.ts';

/** A key pair of a daemon. */
interface EdgeKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** State of an enrolled daemon. */
export interface EdgeIdentity {
  readonly keys: EdgeKeys;
  readonly enrolled: ChallengeNodeResponse;
}

export const edgeKeys = (): EdgeKeys => generateKeyPairSync('ed25519');

export const edgeClient = (port: number): NodeClusterServiceClient =>
  new NodeClusterServiceClient(`127.0.0.1:${port}`, credentials.createInsecure(), { 'grpc.enable_retries': 0 });

function unary<Out>(call: (done: (error: ServiceError | null, out: Out) => void) => unknown): Promise<Out> {
  return new Promise((resolve, reject) => {
    call((error, out) => (error === null ? resolve(out) : reject(error)));
  });
}

/** Attests and redeems a token; rejects with the ServiceError of the relay. */
export async function enroll(
  client: NodeClusterServiceClient,
  token: string,
  { keys = edgeKeys(), from }: { readonly keys?: EdgeKeys; readonly from?: string } = {},
): Promise<EdgeIdentity> {
  const metadata = new Metadata();
  if (from !== undefined) metadata.set('x-forwarded-for', from);
  const publicKey = rawPublicKey(keys.publicKey);
  const attested = await unary<{ attestationId: string; nonce: Uint8Array }>((done) =>
    client.attestNode({ role: 1, publicKey, version: 'test', name: 'machine' }, metadata, done),
  );
  const request = {
    attestationId: attested.attestationId,
    signature: signChallenge(keys.privateKey, attested.nonce),
    role: 1 as const,
    bootstrapProof: { $case: 'enrollmentToken', value: token } as const,
  };
  const enrolled = await unary<ChallengeNodeResponse>((done) => client.challengeNode(request, done));
  return { keys, enrolled };
}

export async function rotate(
  client: NodeClusterServiceClient,
  { keys, enrolled }: EdgeIdentity,
  next = edgeKeys(),
  now = Date.now(),
): Promise<EdgeIdentity> {
  const sealing = { key: keys.privateKey, nodeId: enrolled.nodeId, token: enrolled.nodeSecurityToken, sequence: 1n };
  const bytes = Buffer.from(sealRotation(next, { ...sealing, now }));
  const path = '/windlass.node.v1.NodeClusterService/RotateEdgeKey';
  const read = (answer: Buffer): RotateEdgeKeyResponse => RotateEdgeKeyResponse.decode(answer);
  const answer = await unary<RotateEdgeKeyResponse | undefined>((done) =>
    client.makeUnaryRequest(path, (value: Buffer) => value, read, bytes, done),
  );
  const { nodeSecurityToken = '', heartbeatInterval } = answer ?? {};
  return { keys: next, enrolled: { ...enrolled, nodeSecurityToken, heartbeatInterval } };
}

/** A minimal daemon at one stream. */
export class EdgeStream {
  readonly commands: EdgeCommand[] = [];
  /** Name of the status that ended the stream. */
  readonly ended: Promise<string>;
  /** Its trailer `windlass-reason`. */
  readonly reason: Promise<string>;
  readonly streamId = randomUUID();
  readonly #identity: EdgeIdentity;
  readonly #call: ClientDuplexStream<Buffer, Buffer>;
  sequence = 0n;
  #after = 0n;

  constructor(client: NodeClusterServiceClient, identity: EdgeIdentity) {
    this.#identity = identity;
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${identity.enrolled.nodeSecurityToken}`);
    const same = (bytes: Buffer): Buffer => bytes;
    const path = '/windlass.node.v1.NodeClusterService/ConnectEdge';
    this.#call = client.makeBidiStreamRequest(path, same, same, metadata);
    this.ended = new Promise((resolve) => this.#call.once('status', ({ code }) => resolve(status[code])));
    this.reason = new Promise((resolve) =>
      this.#call.once('status', ({ metadata: trailers }) => resolve(trailers.get('windlass-reason').join())),
    );
    this.#call.on('error', () => undefined);
    this.#call.on('data', (bytes: Buffer) => {
      const { enrolled } = identity;
      const key = readRawPublicKey(enrolled.relayPublicKey, 'relay');
      const expected = { key, nodeId: enrolled.nodeId, streamId: this.streamId, after: this.#after };
      const { command, sequence } = openEdgeCommand(bytes, expected);
      this.#after = sequence;
      this.commands.push(command);
    });
  }

  raw(bytes: Uint8Array): void {
    this.#call.write(Buffer.from(bytes));
  }

  send(event: EdgeEventCase, changes: { readonly nodeId?: string; readonly identity?: EdgeIdentity } = {}): Buffer {
    this.sequence += 1n;
    const { keys, enrolled } = changes.identity ?? this.#identity;
    const sealing = { key: keys.privateKey, nodeId: changes.nodeId ?? enrolled.nodeId, streamId: this.streamId };
    const token = enrolled.nodeSecurityToken;
    const bytes = Buffer.from(sealEdgeEvent(event, { ...sealing, token, sequence: this.sequence, now: Date.now() }));
    this.raw(bytes);
    return bytes;
  }

  hello(localTools: readonly string[] = ['cmd.run']): Buffer {
    const machine = { os: 'linux', arch: 'amd64', mountPoints: [], customLabels: {}, commandTimeout: undefined };
    const capabilities = { ...machine, localTools: [...localTools] };
    return this.send({ $case: 'hello', value: { envelope: undefined, capabilities, streamId: this.streamId } });
  }

  heartbeat(): Buffer {
    return this.send({ $case: 'heartbeat', value: { envelope: undefined, sentAt: new Date() } });
  }

  close(): void {
    this.#call.cancel();
  }
}
