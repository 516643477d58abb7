import type { KeyObject } from 'node:crypto';
import { resultWithin, sleepAwake } from '../../lib/clock.ts';
import {
  edgeLimits,
  keyHashOfText,
  type NodeClaims,
  type ReceivedEvent,
  readEdgeEvent,
  readNodeToken,
} from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { HandleStream, ServerStream } from '../../lib/grpc/stream/serve-stream.ts';
import { relayStops, unanswered } from '../explained.ts';
import { type HostStore, isRevoked, type StoredHost } from '../hosts/host-store.ts';
import type { LiveHosts } from '../hosts/live-hosts.ts';
import { createAlikeCapabilities } from './alike-capabilities.ts';
import { endInTurns } from './end-in-turns.ts';
import { createKeyReader } from './key-reader.ts';
import { type HeldToken, heldToken, hostRevoked, LiveStream, unproven } from './live-stream.ts';
import { capabilitiesOf } from './outcome-of.ts';
import { createReadPayload } from './payload.ts';
import { createBusTurns, type TakeEventDeps, takeEvent } from './take-event.ts';
import { createOpenings, createTenantStreams, type Openings, type TenantStreams } from './tenant-streams.ts';

interface ConnectDeps extends Omit<TakeEventDeps, 'turns' | 'readPayload'> {
  readonly hosts: HostStore;
  readonly relayKey: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  /** Aborts when the relay begins to stop. */
  readonly draining: AbortSignal;
  /** How long the key before a rotation counts. */
  readonly overlapMs: number;
  /** Streams of all hosts. */
  readonly streamsMax: number;
}

type Pipe = ServerStream<Buffer, Uint8Array>;

interface OpenDeps extends ConnectDeps, Pick<TakeEventDeps, 'turns' | 'readPayload'> {
  readonly live: LiveHosts;
  /** The same for all streams. */
  readonly ofStream: LiveStream['facts']['deps'];
  readonly shares: TenantStreams;
  readonly openings: Openings;
  readonly alike: ReturnType<typeof createAlikeCapabilities>;
}

/** How long a client has for its Hello, from the first byte of its stream on. */
const helloMs = 10_000;

/** Serves `ConnectEdge` (spec 2 §4.1). */
export function connectEdge(parts: ConnectDeps): HandleStream<Buffer, Uint8Array> {
  const { clock, relayKey, streams } = parts;
  const readKey = createKeyReader();
  const deps: OpenDeps = {
    ...parts,
    live: streams.live,
    ofStream: { clock, hosts: streams.live, relayKey, readKey },
    shares: createTenantStreams(parts.streamsMax, parts.clock),
    turns: createBusTurns(parts.clock),
    readPayload: createReadPayload(parts.clock),
    openings: createOpenings(parts.clock),
    alike: createAlikeCapabilities(),
  };
  const open = new Set<LiveStream>();
  // One listener for all streams: a signal looks through those that it has for each one more or less.
  deps.draining.addEventListener('abort', () => void endInTurns(open, relayStops()), { once: true });
  return async (pipe) => {
    const stream = await opened(deps, pipe);
    open.add(stream);
    if (deps.draining.aborted) stream.end(relayStops());
    try {
      await deps.streams.begin(stream);
      stream.confirmBy(confirm(deps, stream));
      await pipe.each((message) => take(deps, stream, message));
    } finally {
      open.delete(stream);
      deps.shares.leave(stream.host.tenant);
      void deps.streams.over(stream).catch(() => undefined);
    }
  };
}

/**
 * Writes that the host is connected, and ends the stream where the server knows more of the host than the relay did. The daemon is
 * heard meanwhile: after the restart of a relay the last of ten thousand hosts waits a minute for its turn. Never rejects.
 */
async function confirm({ streams, overlapMs }: ConnectDeps, stream: LiveStream): Promise<void> {
  const host = await streams.confirm(stream);
  if (host !== undefined && !isRevoked(host) && !isCredentialOf(host, stream, overlapMs))
    return stream.end(replacedToken());
  // The daemon may have been away when it was to drain, or was restarted since.
  if ((host ?? stream.host).object.spec.draining === true) await stream.send(drainOrder).catch(() => undefined);
}

/** A key that was rotated since the stream began replaces its token later (EDGE-FLOW-21): `LiveStream.accept` knows when. */
function isCredentialOf(host: StoredHost, { facts }: LiveStream, overlapMs: number): boolean {
  const rotatedAt = Date.parse(host.object.status?.keys.previous_until ?? '') - overlapMs;
  return isCurrent(host, facts.token) || rotatedAt >= facts.beganAt;
}

/** More than a node id, a token, a time, a sequence and a signature take, and the fields around them. */
const envelopeBytes = 16 * 1024;

const ofCommands: ReadonlySet<string> = new Set(['commandResult', 'commandProgress']);

/** Takes a message that came after the Hello. */
async function take(deps: OpenDeps, stream: LiveStream, message: Buffer): Promise<void> {
  const { interruption } = stream;
  const received = readEdgeEvent(message);
  await stream.accept(received);
  // That a daemon lives is heard at once. Its words about commands count when the server has said whose stream this is.
  if (ofCommands.has(received.event.$case)) {
    stream.hurry();
    if (!stream.isConfirmed) await interruption.during(confirmedInTime(deps, stream));
  }
  await interruption.during(takeEvent(deps, stream, received.event));
}

/** A server that hangs holds up the heartbeats behind a result no longer, as one that is away does not. */
async function confirmedInTime({ clock }: ConnectDeps, stream: LiveStream): Promise<void> {
  await resultWithin(clock, helloMs, stream.confirmed);
  stream.forgetConfirmation();
}

const drainOrder = { $case: 'drain', value: {} } as const;

interface Opening {
  readonly pipe: Pipe;
  readonly messages: AsyncIterator<Buffer>;
  readonly token: HeldToken;
  readonly claims: NodeClaims;
}

/** A stream that comes too soon after others of its host costs the proof of its token alone. */
async function opened(deps: OpenDeps, pipe: Pipe): Promise<LiveStream> {
  const opening = await proven(deps, pipe);
  const leave = deps.openings.enter(opening.claims.nodeId);
  try {
    return await counted(deps, opening);
  } finally {
    leave();
  }
}

/** Counts the stream to the share of its tenant, whom the token names, until it is over. */
async function counted(deps: OpenDeps, opening: Opening): Promise<LiveStream> {
  const { pipe, claims } = opening;
  const { tid } = claims;
  deps.shares.enter(tid);
  try {
    pipe.vouch();
    pipe.charge(tid, edgeLimits.reportBytes + envelopeBytes);
    const stream = await openInTime(deps, opening);
    pipe.charge(tid);
    return stream;
  } catch (error) {
    deps.shares.leave(tid);
    throw error;
  }
}

/** A stream whose token the relay has signed: no more is asked of anything else before that. */
async function proven({ clock, relayKey }: ConnectDeps, pipe: Pipe): Promise<Opening> {
  const text = bearerOf(pipe);
  const claims = await readNodeToken(relayKey.publicKey, text, clock.now());
  if (claims === undefined) throw unproven('the node security token is missing, not valid, or has expired');
  const messages = pipe.messages[Symbol.asyncIterator]();
  return { pipe, messages, token: heldToken(text, claims), claims };
}

/** One bound for all that comes before the stream counts: a server that does not answer holds up no place of the host. */
async function openInTime(deps: OpenDeps, opening: Opening): Promise<LiveStream> {
  const over = new AbortController();
  let host: StoredHost | undefined;
  let arrived = (): void => undefined;
  const open = async (): Promise<LiveStream> => {
    host = await authenticate(deps, opening.claims);
    if (!over.signal.aborted) arrived = deps.streams.expect(host.object.metadata.uid ?? '');
    return hello(deps, opening, host);
  };
  // While the relay was too busy to hear it, the Hello may have come.
  const late = sleepAwake(deps.clock, helloMs, over.signal).then((): never => {
    if (host === undefined) throw unanswered();
    throw new AppError('invalid', 'no hello came within 10 s');
  });
  try {
    return await Promise.race([open(), late]);
  } finally {
    // A reason spares the making of an error with its stack.
    over.abort('opened');
    arrived();
  }
}

/** The first message: Hello with an envelope of this host. */
async function hello(
  deps: OpenDeps,
  { pipe, messages, token, claims }: Opening,
  host: StoredHost,
): Promise<LiveStream> {
  const first = await messages.next();
  if (first.done === true) throw new AppError('invalid', 'the stream ended before its hello');
  const received: ReceivedEvent = readEdgeEvent(first.value);
  const { event } = received;
  if (event.$case !== 'hello') throw new AppError('invalid', 'the first message of a stream is hello');
  const { streamId } = event.value;
  if (!uuid.test(streamId)) throw new AppError('invalid', 'hello.stream_id is no UUID');
  const facts = { nodeId: claims.nodeId, token, streamId, beganAt: deps.clock.now(), deps: deps.ofStream, pipe };
  const stream = new LiveStream(facts, host, deps.alike(capabilitiesOf(event.value.capabilities)));
  await stream.accept(received);
  return stream;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The host of a token that counts. The server is asked only where the relay does not know the host, or knows another
 * token, or that it is revoked: a daemon gives up for good then, and the memory of the relay may be behind. The first
 * look-up of an open stream finds what the relay has not heard of yet.
 */
async function authenticate({ hosts, live }: OpenDeps, claims: NodeClaims): Promise<StoredHost> {
  const known = hosts.cached(claims.tid, claims.nodeId);
  if (known !== undefined && live.isKnownRevoked(known)) throw hostRevoked();
  if (known !== undefined && !isRevoked(known) && isCurrent(known, claims)) return known;
  const host = await live.find(claims.tid, claims.nodeId);
  if (host?.object.status === undefined) throw unproven('the host of the token is not there any more');
  if (!isCurrent(notRevoked(host), claims)) throw replacedToken();
  return host;
}

function notRevoked(host: StoredHost): StoredHost {
  if (isRevoked(host)) throw hostRevoked();
  return host;
}

type Credential = Pick<NodeClaims, 'jti' | 'keyHash'>;

function isCurrent({ object }: StoredHost, claims: Credential): boolean {
  if (object.status === undefined) return false;
  const { token_jti: jti, keys } = object.status;
  return jti === claims.jti && keyHashOfText(keys.current) === claims.keyHash;
}

const replacedToken = (): AppError => unproven('another node security token has replaced this one');

/** Empty where there is none; a longer one than any of ours is refused by its reader. */
const bearerOf = (pipe: Pipe): string => /^Bearer ([^\s,]+)$/i.exec(pipe.takeHeader('authorization') ?? '')?.[1] ?? '';
