import type { KeyObject } from 'node:crypto';
import { keyHashOf, readEdgeEvent, type ReceivedEvent, readNodeToken } from '../../lib/edge/index.ts';
import { readPublicKey } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { HandleStream, ServerStream } from '../../lib/grpc/stream/serve-stream.ts';
import { type HostStore, isRevoked, type StoredHost } from '../hosts/host-store.ts';
import { type HeldToken, hostRevoked, LiveStream, unproven } from './live-stream.ts';
import { capabilitiesOf } from './outcome-of.ts';
import { takeEvent, type TakeEventDeps } from './take-event.ts';

export interface ConnectDeps extends TakeEventDeps {
  readonly hosts: HostStore;
  readonly relayKey: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
}

type Pipe = ServerStream<Buffer, Uint8Array>;

/** How long a client has for its Hello. */
const helloMs = 10_000;

/** Serves `ConnectEdge` (spec 2 §4.1). */
export const connectEdge =
  (deps: ConnectDeps): HandleStream<Buffer, Uint8Array> =>
  async (pipe) => {
    const { host, token, nodeId } = await authenticate(deps, pipe);
    const messages = pipe.messages[Symbol.asyncIterator]();
    const stream = await hello(deps, { pipe, messages, host, token, nodeId });
    const { interruption } = stream;
    const stop = (): void => stream.end(new AppError('unavailable', 'this relay stops; connect again'));
    pipe.draining.addEventListener('abort', stop, { once: true });
    if (pipe.draining.aborted) stop();
    try {
      await deps.streams.begin(stream);
      for (;;) {
        const next = await interruption.during(messages.next());
        if (next.done === true) return;
        const received = readEdgeEvent(next.value);
        await stream.accept(received);
        await interruption.during(takeEvent(deps, stream, received.event));
      }
    } finally {
      pipe.draining.removeEventListener('abort', stop);
      void deps.streams.over(stream).catch(() => undefined);
    }
  };

interface Opening {
  readonly pipe: Pipe;
  readonly messages: AsyncIterator<Buffer>;
  readonly host: StoredHost;
  readonly token: HeldToken;
  readonly nodeId: string;
}

/** The first message: Hello with an envelope of this host. */
async function hello({ clock, hosts, relayKey }: ConnectDeps, { pipe, messages, host, token, nodeId }: Opening) {
  const late = clock.sleep(helloMs, pipe.signal).then((): never => {
    throw new AppError('invalid', 'no hello came within 10 s');
  });
  const first = await Promise.race([messages.next(), late]);
  late.catch(() => undefined);
  if (first.done === true) throw new AppError('invalid', 'the stream ended before its hello');
  const received: ReceivedEvent = readEdgeEvent(first.value);
  const { event } = received;
  if (event.$case !== 'hello') throw new AppError('invalid', 'the first message of a stream is hello');
  const { streamId } = event.value;
  if (!uuid.test(streamId)) throw new AppError('invalid', 'hello.stream_id is no UUID in lower case');
  const read = () => hosts.find(host.tenant, nodeId);
  const facts = { host, nodeId, token, streamId, relayKey, now: () => clock.now(), read, pipe };
  const stream = new LiveStream(facts, capabilitiesOf(event.value.capabilities));
  await stream.accept(received);
  return stream;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The host of a Bearer token that counts now. */
async function authenticate(
  { clock, hosts, relayKey }: ConnectDeps,
  pipe: Pipe,
): Promise<Pick<Opening, 'host' | 'token' | 'nodeId'>> {
  const token = bearerOf(pipe);
  const claims = await readNodeToken(relayKey.publicKey, token, clock.now());
  if (claims === undefined) throw unproven('the node security token is missing, not valid, or has expired');
  const host = await hosts.find(claims.tid, claims.nodeId);
  if (host?.object.status === undefined) throw unproven('the host of the token is not there any more');
  if (isRevoked(host)) throw hostRevoked();
  const { token_jti: jti, keys } = host.object.status;
  const isCurrent = jti === claims.jti && keyHashOf(readPublicKey(keys.current, 'keys')) === claims.keyHash;
  if (!isCurrent) throw unproven('another node security token has replaced this one');
  return { host, token: { text: token, ends: claims.exp * 1_000 }, nodeId: claims.nodeId };
}

/** Empty where there is none; a longer one than any of ours is refused by its reader. */
const bearerOf = (pipe: Pipe): string => /^Bearer ([^\s,]+)$/i.exec(pipe.header('authorization') ?? '')?.[1] ?? '';
