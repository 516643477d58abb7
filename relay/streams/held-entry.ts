import type { EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { edgeBuckets, type HeldStream } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { LiveStream } from './live-stream.ts';

interface HeldEntryDeps {
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'bucket'>;
  readonly relayId: string;
}

const holdAttempts = 5;

/** An entry ends a day after its last write: it is written again at half of that. */
export const renewAfterMs = edgeBuckets.streams.ttlMs / 2;

/** Says in the bus that this relay holds the stream; answers the entry before. */
export async function holdEntry(deps: HeldEntryDeps, stream: LiveStream): Promise<HeldStream | undefined> {
  const bucket = deps.bus.bucket<HeldStream>(edgeBuckets.streams);
  const { uid } = stream;
  for (let attempt = 0; attempt < holdAttempts; attempt += 1) {
    const entry = entryOf(deps, uid);
    const before = await bucket.get(uid);
    const revision =
      before === undefined
        ? await bucket.create(uid, entry, stream.host.tenant)
        : await bucket.update(uid, entry, before.revision).catch(() => undefined);
    if (revision === undefined) continue;
    stream.held(revision);
    return before?.value;
  }
  throw new AppError('unavailable', 'the stream could not be taken over; connect again');
}

/**
 * Writes the entry of an open stream again. False where another relay holds the host by now. Throws AppError `unavailable`
 * where the bus is away.
 */
export async function renewEntry(deps: HeldEntryDeps, stream: LiveStream): Promise<boolean> {
  const bucket = deps.bus.bucket<HeldStream>(edgeBuckets.streams);
  const { uid } = stream;
  const written = await bucket.update(uid, entryOf(deps, uid), stream.epoch);
  const revision = written ?? (await foundAgain(deps, stream));
  if (revision !== undefined) stream.held(revision);
  return revision !== undefined;
}

/** The bus has lost the entry, or has it from a write of ours whose answer was lost. */
async function foundAgain(deps: HeldEntryDeps, { uid, host }: LiveStream): Promise<number | undefined> {
  const bucket = deps.bus.bucket<HeldStream>(edgeBuckets.streams);
  const found = await bucket.get(uid);
  if (found === undefined) return bucket.create(uid, entryOf(deps, uid), host.tenant);
  return found.value.relay === deps.relayId ? found.revision : undefined;
}

const entryOf = ({ clock, relayId }: HeldEntryDeps, uid: string): HeldStream => ({
  uid,
  relay: relayId,
  at: new Date(clock.now()).toISOString(),
});
