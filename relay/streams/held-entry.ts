import type { EventBus, KeyValueEntry } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { edgeBuckets, edgeLimits, type HeldStream, type RecentStream } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import { firstAnswer } from '../../lib/retry.ts';
import { isLate } from '../late-bus.ts';
import { type LiveStream, unproven } from './live-stream.ts';

interface HeldEntryDeps {
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'bucket' | 'problem'>;
  readonly relayId: string;
}

const holdAttempts = 5;

/** An entry ends a day after its last write: it is written again at half of that. */
export const renewAfterMs = edgeBuckets.streams.ttlMs / 2;

/** A message of an older stream is refused by its time. */
const recentMs = 2 * edgeLimits.skewMs;
/** A daemon that connects more often than this is bounded by its own pauses. */
const recentMost = 64;

/**
 * Says in the bus that this relay holds the stream; answers the entry before. A bus that is there and does not answer in time is
 * asked again: a thousand daemons that come at once keep this process from hearing its answers.
 * @throws AppError `unauthenticated` for a stream id that was used before: its messages may have been recorded; `unavailable`
 * where the bus is away.
 */
export async function holdEntry(deps: HeldEntryDeps, stream: LiveStream): Promise<HeldStream | undefined> {
  const bucket = deps.bus.bucket<HeldStream>(edgeBuckets.streams);
  let earlier: HeldStream | undefined;
  const hold = async (attempt: number): Promise<number | undefined> => {
    const before = await bucket.get(stream.uid);
    // The answer to the write before was lost.
    const isWritten = attempt > 1 && before !== undefined && isOurs(deps, stream, before.value);
    if (!isWritten) earlier = before?.value;
    return isWritten ? before.revision : await writeAfter(deps, stream, before);
  };
  const revision = await firstAnswer(holdAttempts, (attempt) =>
    hold(attempt).catch((error: unknown) => {
      if (attempt === holdAttempts || !isLate(deps.bus, error)) throw error;
      return undefined;
    }),
  );
  if (revision === undefined) throw new AppError('unavailable', 'the stream could not be taken over; connect again');
  stream.held(revision);
  return earlier;
}

/** The revision of the new entry; undefined where another one was written meanwhile, or that is not known. */
async function writeAfter(
  deps: HeldEntryDeps,
  stream: LiveStream,
  before: KeyValueEntry<HeldStream> | undefined,
): Promise<number | undefined> {
  const bucket = deps.bus.bucket<HeldStream>(edgeBuckets.streams);
  stream.recent = withStream(before?.value, stream, deps.clock.now());
  const entry = entryOf(deps, stream);
  if (before === undefined) return bucket.create(stream.uid, entry, stream.host.tenant);
  return bucket.update(stream.uid, entry, before.revision).catch(() => undefined);
}

/**
 * Writes the entry of an open stream again. False where another stream holds the host by now. Throws AppError `unavailable`
 * where the bus is away.
 */
export async function renewEntry(deps: HeldEntryDeps, stream: LiveStream): Promise<boolean> {
  const bucket = deps.bus.bucket<HeldStream>(edgeBuckets.streams);
  const { uid } = stream;
  const written = await bucket.update(uid, entryOf(deps, stream), stream.epoch);
  const revision = written ?? (await foundAgain(deps, stream));
  if (revision !== undefined) stream.held(revision);
  return revision !== undefined;
}

/** The bus has lost the entry, or has it from a write of ours whose answer was lost. */
async function foundAgain(deps: HeldEntryDeps, stream: LiveStream): Promise<number | undefined> {
  const { uid, host } = stream;
  const bucket = deps.bus.bucket<HeldStream>(edgeBuckets.streams);
  const found = await bucket.get(uid);
  if (found === undefined) return bucket.create(uid, entryOf(deps, stream), host.tenant);
  return isOurs(deps, stream, found.value) ? found.revision : undefined;
}

const entryOf = ({ clock, relayId }: HeldEntryDeps, { uid, recent }: LiveStream): HeldStream => ({
  uid,
  relay: relayId,
  at: new Date(clock.now()).toISOString(),
  recent,
});

const isOurs = ({ relayId }: HeldEntryDeps, { facts }: LiveStream, { relay, recent = [] }: HeldStream): boolean =>
  relay === relayId && recent.at(-1)?.id === facts.streamId;

/** The streams of the last minutes and this one. */
function withStream(before: HeldStream | undefined, { facts }: LiveStream, now: number): RecentStream[] {
  const recent = (before?.recent ?? []).filter(({ at }) => Math.abs(now - Date.parse(at)) <= recentMs);
  const { streamId: id } = facts;
  if (recent.some((one) => one.id === id)) throw unproven('hello.stream_id was used before; make another one');
  return [...recent, { id, at: new Date(now).toISOString() }].slice(-recentMost);
}
