import { hash, type KeyObject } from 'node:crypto';
import type { EdgeHostCapabilities } from '../../crds/schema/edge-host.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  assertFresh,
  hostRevokedReason,
  isSealedByInPool,
  type NodeClaims,
  type ReceivedEvent,
  type RecentStream,
  readNodeToken,
  reasonTrailer,
  sealEdgeCommand,
} from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import type { ServerStream } from '../../lib/grpc/stream/serve-stream.ts';
import type { EdgeCommand } from '../../proto/generated/windlass/node/v1/node.ts';
import { type HostStore, isRevoked, keyBefore, type StoredHost } from '../hosts/host-store.ts';
import { Interruption } from './interruption.ts';
import type { PassedOutput } from './passed-output.ts';

/** A node security token that counts. */
export interface HeldToken {
  /** SHA-256 of its text, which takes half a kilobyte. */
  readonly digest: string;
  readonly jti: string;
  readonly keyHash: string;
  /** Milliseconds since the Unix epoch. */
  readonly ends: number;
}

export const heldToken = (text: string, { jti, keyHash, exp }: NodeClaims): HeldToken => ({
  digest: digestOf(text),
  jti,
  keyHash,
  ends: exp * 1_000,
});

const digestOf = (text: string): string => hash('sha256', text, 'base64url');

/** The same for all streams of a relay, so that no stream has functions of its own. */
interface LiveStreamDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly hosts: Pick<HostStore, 'find'>;
  readonly relayKey: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** From `createKeyReader`. */
  readonly readKey: (text: string) => KeyObject;
}

interface LiveStreamFacts {
  readonly nodeId: string;
  /** Token of its Bearer header. */
  readonly token: HeldToken;
  readonly streamId: string;
  /** Milliseconds since the Unix epoch. */
  readonly beganAt: number;
  readonly deps: LiveStreamDeps;
  readonly pipe: Pick<ServerStream<Buffer, Uint8Array>, 'send' | 'interrupt'>;
}

/** The key that has signed a message: that of the host, or the one before its last rotation. */
type Signer = 'current' | 'previous';
type Sealed = ReceivedEvent['sealed'];

/** Shared by all streams under which nothing is under way. */
const idle: Promise<void> = Promise.resolve();
const nothing = (): void => undefined;

/** One open stream of a host, from its Hello on. */
export class LiveStream {
  readonly facts: LiveStreamFacts;
  /** Cuts short the work for a message when the relay ends the stream. */
  readonly interruption = new Interruption();
  /** Revisions of the entry that says who holds the stream: the first and the last that is ours; 0 before it is written. */
  epoch = 0;
  #firstEpoch = 0;
  /** Place among the streams that this relay has begun; the later one of a host stays. */
  arrival = 0;
  /** Streams of the host in the last minutes, with this one. */
  recent: readonly RecentStream[] = [];
  /** When the entry was written. */
  heldAt = 0;
  /** While the entry is written again: senders may know its revision before we do. */
  renewing: Promise<void> = idle;
  /** Has that done before its turn. */
  hurry: () => void = nothing;
  /** Milliseconds since the Unix epoch, for people. */
  lastHeartbeat: number;
  /** The same in time that never steps; `Streams.heard` sets both. */
  lastHeard = 0;
  isUnhealthy = false;
  capabilities: EdgeHostCapabilities;
  /** Capabilities that came since the last checkpoint. */
  hasNews = false;
  /** The state could not be written. */
  isUnwritten = false;
  /** An order to drain was written to it. */
  isToDrain = false;
  /** Output that was passed on, by command; a stream that takes over counts on. Undefined before the first. */
  progress: Map<string, PassedOutput> | undefined;
  /** Messages for commands that the host does not have, since the last line of the log about them, and when that was. */
  strange: { readonly count: number; readonly loggedAt: number } | undefined;
  /** uid of the host. */
  readonly uid: string;
  /** As the relay knows it now. */
  host: StoredHost;
  #token: HeldToken;
  #received = 0n;
  #sent = 0n;
  /** Commands whose results are stored, which the daemon has not heard. */
  #owed: string[] | undefined;
  #problem: AppError | undefined;
  #writing: Promise<void> = idle;
  #confirmed: Promise<void> = idle;

  constructor(facts: LiveStreamFacts, host: StoredHost, capabilities: EdgeHostCapabilities) {
    this.facts = facts;
    this.uid = host.object.metadata.uid ?? '';
    this.host = host;
    this.capabilities = capabilities;
    this.lastHeartbeat = facts.deps.clock.now();
    this.#token = facts.token;
  }

  /** The entry is ours at this revision, for the first time or again. */
  held(epoch: number): void {
    // Revisions of a store that was made anew, or put back, begin lower.
    if (this.#firstEpoch === 0 || epoch < this.#firstEpoch) this.#firstEpoch = epoch;
    this.epoch = epoch;
    this.heldAt = this.#now();
  }

  /** `work` resolves when the server has said what it knows of the host, or cannot be asked. It never rejects. */
  confirmBy(work: Promise<void>): void {
    this.#confirmed = work;
    void work.then(() => this.forgetConfirmation());
  }

  get confirmed(): Promise<void> {
    return this.#confirmed;
  }

  get isConfirmed(): boolean {
    return this.#confirmed === idle;
  }

  /** Nothing waits for the server any more. */
  forgetConfirmation(): void {
    this.#confirmed = idle;
  }

  /** Nothing is to be hurried any more. */
  forgetHurry(): void {
    this.hurry = nothing;
  }

  /** An older stream at this relay has written the entry after this one: its revision is ours. */
  takeEntryOf({ recent, epoch }: LiveStream): void {
    const isOwn = ({ id }: RecentStream): boolean => id === this.facts.streamId;
    this.recent = [...recent.filter((one) => !isOwn(one)), ...this.recent.filter(isOwn)];
    this.held(epoch);
  }

  /** Whether a sender means this stream: all revisions from the first to the last of ours are ours. */
  async isAt(epoch: number): Promise<boolean> {
    if (epoch > this.epoch) await this.renewing;
    return epoch >= this.#firstEpoch && epoch <= this.epoch;
  }

  /** Breaks it off with this status. */
  end(error: AppError): void {
    this.#problem ??= error;
    this.interruption.end(this.#problem);
    this.facts.pipe.interrupt(this.#problem);
  }

  /**
   * @throws AppError `unauthenticated` where the envelope does not prove this host at this place of the stream.
   */
  async accept({ sealed }: ReceivedEvent): Promise<void> {
    // Messages that wait already are not taken any more.
    if (this.#problem !== undefined) throw this.#problem;
    const { envelope } = sealed;
    const { nodeId } = this.facts;
    const now = this.#now();
    if (envelope.nodeId !== nodeId) throw unproven('envelope.node_id is another host');
    assertFresh(envelope, now);
    if (envelope.sequence <= this.#received) throw unproven('envelope.sequence does not rise');
    const signer = (await this.#signerOf(sealed)) ?? (await this.#laterSignerOf(sealed));
    if (digestOf(envelope.securityToken) !== this.#token.digest) await this.#takeToken(envelope.securityToken);
    this.#assertTokenOf(signer);
    if (now >= this.#token.ends) throw unproven('the node security token has expired; rotate the key');
    this.#received = envelope.sequence;
  }

  /**
   * Writes a message with the acknowledgements that are owed, in order with others; resolves when there is room for the next.
   * Without a command it writes nothing where none is owed any more.
   */
  send(command: EdgeCommand['command']): Promise<void> {
    const { deps, nodeId, streamId, pipe } = this.facts;
    this.isToDrain ||= command?.$case === 'drain';
    const write = async (): Promise<void> => {
      const resultAck = this.#owed === undefined ? undefined : { commandIds: this.#owed };
      this.#owed = undefined;
      if (command === undefined && resultAck === undefined) return;
      this.#sent += 1n;
      const sealing = { key: deps.relayKey.privateKey, nodeId, streamId, sequence: this.#sent, now: this.#now() };
      await pipe.send(sealEdgeCommand({ command, resultAck }, sealing));
    };
    const written = this.#writing.then(write);
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /** The next message has the acknowledgement of this result. Answers how many are owed. */
  owe(commandId: string): number {
    this.#owed ??= [];
    return this.#owed.push(commandId);
  }

  /** Writes what is owed. */
  acknowledge(): Promise<void> {
    return this.#owed === undefined ? idle : this.send(undefined);
  }

  #now(): number {
    return this.facts.deps.clock.now();
  }

  /** Which key of the host has signed a message; undefined where none that counts has. */
  async #signerOf(sealed: Sealed): Promise<Signer | undefined> {
    const { streamId } = this.facts;
    for (const [signer, key] of this.#keys()) if (await isSealedByInPool(key, sealed, streamId)) return signer;
    return undefined;
  }

  /** A daemon may sign with its new key before the news of its rotation has come here. */
  async #laterSignerOf(sealed: Sealed): Promise<Signer> {
    await this.#readAgain();
    const signer = await this.#signerOf(sealed);
    if (signer === undefined) throw unproven('the key of the host has not signed the message');
    return signer;
  }

  async #readAgain(): Promise<void> {
    const { deps, nodeId } = this.facts;
    const host = await deps.hosts.find(this.host.tenant, nodeId);
    if (host === undefined) throw unproven('the host is not there any more');
    if (isRevoked(host)) throw hostRevoked();
    this.host = host;
  }

  /** The token of a rotation replaces that of the header. */
  async #takeToken(token: string): Promise<void> {
    const { deps, nodeId } = this.facts;
    const claims = await readNodeToken(deps.relayKey.publicKey, token, this.#now());
    const current = this.host.object.status?.token_jti;
    if (claims?.nodeId !== nodeId || claims.jti !== current) throw unproven('envelope.security_token is not valid');
    this.#token = heldToken(token, claims);
  }

  /**
   * A token that a rotation has replaced counts as long as the key before does (EDGE-FLOW-21), and until the stream has the new one
   * (`#takeToken`). The new token is bound to the new key: the one before signs nothing beside it (EDGE-FLOW-22).
   */
  #assertTokenOf(signer: Signer): void {
    const { status } = this.host.object;
    if (status === undefined || status.token_jti === this.#token.jti) {
      if (signer === 'previous') throw unproven('the key before the rotation counts beside the token before it alone');
      return;
    }
    if (this.#now() < Date.parse(status.keys.previous_until ?? '')) return;
    throw unproven('another node security token has replaced this one');
  }

  /** The current key, and the one before as long as both count. */
  #keys(): (readonly [Signer, KeyObject])[] {
    const keys = this.host.object.status?.keys;
    if (keys === undefined) return [];
    const { readKey } = this.facts.deps;
    const current = ['current', readKey(keys.current)] as const;
    const before = keyBefore(keys, this.#now());
    return before === undefined ? [current] : [current, ['previous', readKey(before)]];
  }
}

/** The trailer proves that the relay says so: a proxy may answer PERMISSION_DENIED for a time. */
export const hostRevoked = (): AppError =>
  new GrpcError('forbidden', 'the host is revoked', { metadata: { [reasonTrailer]: hostRevokedReason } });

export const unproven = (problem: string): AppError =>
  new AppError('unauthenticated', problem, { reason: 'EnvelopeInvalid' });
