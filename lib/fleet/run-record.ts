import type { FleetRun, StoredPart } from '../../crds/schema/fleet-run.ts';
import { commandIdOf } from '../edge/index.ts';
import { createLoopTurns } from '../loop-turns.ts';
import type { OutputStore } from '../output-store/output-store.ts';
import { valueOf } from '../output-store/blob-value.ts';
import { notStarted, type NodeRecord } from './node-record.ts';
import type { SkippedHost } from './selector.ts';

/** The targets of a run, as they were fixed at its start. Both lists are in the order of node ids. */
export interface FrozenTargets {
  readonly resolved: readonly FrozenTarget[];
  readonly skipped: readonly SkippedHost[];
}

export interface FrozenTarget {
  readonly node_id: string;
  /** uid of its EdgeHost. */
  readonly host_uid: string;
  readonly name: string;
}

type Store = Pick<OutputStore, 'get'>;

/** Reads a part of a record. Only the controllers write what the status of a run names, and its hash is checked. */
export type PartReader = (run: FleetRun, part: StoredPart) => Promise<unknown>;

/** Reads parts from an output store. */
export const storeReader =
  (store: Store): PartReader =>
  async (run, { ref, bytes }) => {
    const { uid = '', namespace = '' } = run.metadata;
    const locator = { executionUid: uid, ref, bytes, encoding: 'json' as const };
    return valueOf(await store.get(namespace, locator), locator);
  };

/** A run that ended because its record is gone: its summary is all that is left. */
export const isLost = ({ status }: FleetRun): boolean => status?.reason === 'RecordLost';

const partsOf = (run: FleetRun): readonly StoredPart[] => (isLost(run) ? undefined : run.status?.per_node_ref) ?? [];

/** The fixed targets; none of a run that has not begun. Throws AppError `not_found` where they are lost. */
export async function readTargets(
  read: PartReader,
  run: FleetRun,
  inTurn: PartTurn = (task) => task(),
): Promise<FrozenTargets> {
  const part = isLost(run) ? undefined : run.status?.targets_ref;
  if (part === undefined) return { resolved: [], skipped: [] };
  return inTurn(async () => (await read(run, part)) as FrozenTargets, part);
}

/** Bytes of the records of one part: what a store takes of one value with room to spare. */
export const recordPartBytes = 8 * 1024 * 1024;

/** Pages of what a reader makes of records. */
export interface RecordPages<T extends object> {
  /** The wanted part of a record; undefined where there is none. Called once for each, in their order. */
  readonly take: (record: NodeRecord) => T | undefined;
  /** Size of a page as JSON; infinite: a page is a part. Its first entry is there in any case. */
  readonly bytes: number;
  /** Reads a part in its turn: that takes up to `recordPartBytes`. */
  readonly inTurn: PartTurn;
}

/** Does a task that has this part in memory, in its turn. */
export type PartTurn = <R>(task: () => Promise<R>, part: StoredPart) => Promise<R>;

/**
 * The wanted parts of the stored records, in pages, in the order in which the results came. A part is read anew for
 * each page that it has: the reader of the pages may take its time, and holds no more than one of them.
 */
export async function* pagesOfRecords<T extends object>(
  read: PartReader,
  run: FleetRun,
  pages: RecordPages<T>,
): AsyncGenerator<readonly T[]> {
  for (const part of partsOf(run)) {
    let from: number | undefined = 0;
    while (from !== undefined) {
      const start: number = from;
      const { page, next }: Page<T> = await pages.inTurn(
        async () => pageOf((await read(run, part)) as readonly NodeRecord[], start, pages),
        part,
      );
      from = next;
      if (page.length > 0) yield page;
    }
  }
}

/** How a host ended, as far as those ask who continue its run. */
export type HostOutcome = Pick<NodeRecord, 'node_id' | 'outcome' | 'exit_code'>;

/** The outcomes that are stored so far, in the order in which the results came: of the rest of a record one part at a time is in memory. */
export async function readOutcomes(read: PartReader, run: FleetRun, inTurn: PartTurn): Promise<HostOutcome[]> {
  const take = ({ node_id, outcome, exit_code }: NodeRecord): HostOutcome => ({ node_id, outcome, exit_code });
  const outcomes: HostOutcome[] = [];
  for await (const page of pagesOfRecords(read, run, { take, bytes: recordPartBytes, inTurn })) outcomes.push(...page);
  return outcomes;
}

interface Page<T> {
  readonly page: readonly T[];
  /** The first record behind it; undefined at the end of the part. */
  readonly next: number | undefined;
}

function pageOf<T extends object>(records: readonly NodeRecord[], from: number, pages: RecordPages<T>): Page<T> {
  const page: T[] = [];
  let left = pages.bytes;
  for (const [index, record] of records.entries()) {
    if (index < from) continue;
    if (left <= 0) return { page, next: index };
    const taken = pages.take(record);
    if (taken === undefined) continue;
    if (left < Number.POSITIVE_INFINITY) left -= Buffer.byteLength(JSON.stringify(taken));
    page.push(taken);
  }
  return { page, next: undefined };
}

/** Records whose places are found in one turn of the event loop. */
const recordsPerTurn = 2_000;
const nextTurn = createLoopTurns(recordsPerTurn);

interface PerNode {
  /** Outcomes that no part had a moment before. */
  readonly open?: readonly NodeRecord[];
  /** Default: at once. */
  readonly inTurn?: PartTurn;
}

/**
 * Hosts that have an outcome, in the order in which they got it (spec 2 §2.4, `per_node`). A run that has ended has every
 * host: those that were never sent the command come last. Parts are read one after the other, each in its turn.
 */
export async function readPerNode(
  read: PartReader,
  run: FleetRun,
  { open = [], inTurn = (task) => task() }: PerNode = {},
): Promise<NodeRecord[]> {
  const byNode = new Map<string, NodeRecord>();
  const add = async (records: readonly NodeRecord[]): Promise<void> => {
    for (const record of records) {
      if (!byNode.has(record.node_id)) byNode.set(record.node_id, record);
      await nextTurn(1);
    }
  };
  for (const part of partsOf(run))
    await inTurn(async () => add((await read(run, part)) as readonly NodeRecord[]), part);
  await add(open);
  if (run.status?.phase === 'Ended') await addNotStarted(run, byNode, await readTargets(read, run, inTurn));
  return [...byNode.values()];
}

async function addNotStarted(run: FleetRun, byNode: Map<string, NodeRecord>, targets: FrozenTargets): Promise<void> {
  const uid = run.metadata.uid ?? '';
  for (const { node_id: nodeId } of targets.resolved) {
    if (!byNode.has(nodeId)) byNode.set(nodeId, notStarted(nodeId, commandIdOf(uid, nodeId)));
    await nextTurn(1);
  }
}

/** The same hosts, part by part: one part is in memory at a time, and node ids beside it. A part that is lost meanwhile is an error. */
export async function* partsOfNodes(
  read: PartReader,
  run: FleetRun,
  open: readonly NodeRecord[],
  inTurn: PartTurn,
): AsyncGenerator<readonly NodeRecord[]> {
  const known = new Set<string>();
  const unknown = (record: NodeRecord): NodeRecord | undefined => {
    if (known.has(record.node_id)) return undefined;
    known.add(record.node_id);
    return record;
  };
  yield* pagesOfRecords(read, run, { take: unknown, bytes: Number.POSITIVE_INFINITY, inTurn });
  yield open.filter((record) => unknown(record) !== undefined);
  if (run.status?.phase !== 'Ended') return;
  const uid = run.metadata.uid ?? '';
  const { resolved } = await readTargets(read, run, inTurn);
  yield resolved
    .filter(({ node_id: id }) => !known.has(id))
    .map(({ node_id: id }) => notStarted(id, commandIdOf(uid, id)));
}

/** Reads each part of a record once. @throws AppError `OutputLost` where one is gone. */
export async function assertWhole(read: PartReader, run: FleetRun, inTurn: PartTurn): Promise<void> {
  const { targets_ref: targets } = run.status ?? {};
  for (const part of [...partsOf(run), ...(targets === undefined ? [] : [targets])])
    await inTurn(() => read(run, part), part);
}
