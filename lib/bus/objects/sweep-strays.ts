import type { JetStreamManager } from '@nats-io/jetstream';
import type { ObjectInfo } from '@nats-io/obj';
import { noneIfAbsent, readDirect } from '../direct-batch.ts';
import type { objectSubjects } from '../streams.ts';

interface SweepDeps {
  readonly manager: Pick<JetStreamManager, 'streams' | 'direct'>;
  readonly stream: string;
  readonly subjects: ReturnType<typeof objectSubjects>;
  readonly ttlMs: number;
}

/** Strays that one sweep removes. */
const straysMost = 64;
/** No writer takes so long for one object. */
const writtenWithinMs = 3_600_000;
/** Messages of one request. */
const windowLength = 512;

/**
 * Removes pieces without an object, which a writer leaves that dies on the way. They would count in the bucket until they are too old,
 * and objects would be deleted in their place. Pieces of writers under way are too young. Whether there were any.
 */
export async function sweepStrays(deps: SweepDeps, aliasPrefix: string): Promise<boolean> {
  const { manager, stream, subjects } = deps;
  const written = await subjectsOf(deps, subjects.chunks);
  const named = await subjectsOf(deps, subjects.infos);
  // A prefix of whole groups of three bytes is one in base64 as well.
  const aliases = subjects.infoOf(aliasPrefix.slice(0, 3 * Math.floor(aliasPrefix.length / 3)));
  if (written.length <= named.filter((subject) => !subject.startsWith(aliases)).length) return false;
  const used = await usedSubjects(deps);
  const strays = written.filter((subject) => !used.has(subject)).slice(0, straysMost);
  let removed = 0;
  for (const subject of strays) {
    if (!(await isOld(deps, subject))) continue;
    await manager.streams.purge(stream, { filter: subject });
    removed += 1;
  }
  return removed > 0;
}

const subjectsOf = async ({ manager, stream }: SweepDeps, filter: string): Promise<readonly string[]> =>
  Object.keys((await manager.streams.info(stream, { subjects_filter: filter })).state.subjects ?? {});

/** Subjects of the pieces of all objects. */
async function usedSubjects({ manager, stream, subjects }: SweepDeps): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  const { first_seq: first, last_seq: last } = (await manager.streams.info(stream)).state;
  for (let seq = first; seq <= last; ) {
    const query = { seq, batch: windowLength, next_by_subj: subjects.infos };
    const messages = await readDirect(manager.direct, stream, query).catch(noneIfAbsent);
    for (const message of messages) {
      const { nuid } = message.json<Partial<ObjectInfo>>();
      if (nuid !== undefined) used.add(subjects.chunksOf(nuid));
    }
    seq = (messages.at(-1)?.seq ?? last) + 1;
  }
  return used;
}

/** By the clock of the server. */
async function isOld({ manager, stream, ttlMs }: SweepDeps, subject: string): Promise<boolean> {
  const { first_seq: seq, last_ts: newest } = (await manager.streams.info(stream)).state;
  const query = { seq, batch: 1, next_by_subj: subject };
  const [piece] = await readDirect(manager.direct, stream, query).catch(noneIfAbsent);
  return piece !== undefined && Date.parse(newest) - piece.time.getTime() > Math.min(writtenWithinMs, ttlMs / 20);
}
