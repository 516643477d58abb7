import { limits } from '../../../crds/limits.ts';
import { commandIdOf } from '../../../lib/edge/index.ts';
import { type NodeRecord, notStarted } from '../../../lib/fleet/node-record.ts';
import type { FrozenTarget } from '../../../lib/fleet/run-record.ts';

/** Outcomes of hosts that a record tells of. One that was never sent the command has no record before the end of its run. */
const outcomeOf = { o: 'ok', e: 'err', t: 'timed_out', c: 'cancelled' } as const;
type Letter = keyof typeof outcomeOf;

const letterOf: Readonly<Record<NodeRecord['outcome'], Letter | undefined>> = {
  ok: 'o',
  err: 'e',
  timed_out: 't',
  cancelled: 'c',
  not_started: undefined,
};

export interface OpenOutcomes {
  readonly text: string;
  /** The newest, for which the text has no room. */
  readonly rest: readonly NodeRecord[];
}

/**
 * Outcomes as the status of a run keeps them until a part of the record has them, in the order in which they came: `12o 13e3` is
 * the thirteenth target with ok and exit code 0, and the next with err and exit code 3. An outcome without an exit code of its own
 * has a `-`.
 */
export function openOutcomesText(
  records: readonly NodeRecord[],
  placeOf: (node: string) => number | undefined,
): OpenOutcomes {
  const words: string[] = [];
  let left: number = limits.fleetOpenOutcomesLength;
  for (const [at, { node_id: node, outcome, exit_code: exit }] of records.entries()) {
    const [place, letter] = [placeOf(node), letterOf[outcome]];
    if (place === undefined || letter === undefined) continue;
    const one = `${place}${letter}${exit === 0 ? '' : (exit ?? '-')}`;
    left -= one.length + 1;
    if (left < 0) return { text: words.join(' '), rest: records.slice(at) };
    words.push(one);
  }
  return { text: words.join(' '), rest: [] };
}

interface KnownRun {
  readonly uid: string;
  readonly targets: readonly FrozenTarget[];
  /** Longest time of one command. */
  readonly deadlineMs: number;
}

const word = /^(?<place>\d{1,9})(?<letter>[oetc])(?<exit>-|-?\d{0,11})$/;

/** The same as records. Each lacks its details, which the log of results may have. */
export function readOpenOutcomes(text: string | undefined, run: KnownRun): NodeRecord[] {
  const records: NodeRecord[] = [];
  for (const one of (text ?? '').split(' ')) {
    const { place = '', letter = '', exit = '' } = word.exec(one)?.groups ?? {};
    const target = run.targets[place === '' ? -1 : Number(place)];
    if (target !== undefined) records.push(bareRecord(run, target.node_id, { letter: letter as Letter, exit }));
  }
  return records;
}

/** Code of an error whose own code was lost with its details. */
const detailsLost = 'DetailsLost';

function bareRecord(
  { uid, deadlineMs }: KnownRun,
  node: string,
  { letter, exit }: { readonly letter: Letter; readonly exit: string },
): NodeRecord {
  const outcome = outcomeOf[letter];
  return {
    ...notStarted(node, commandIdOf(uid, node)),
    outcome,
    exit_code: exit === '-' ? null : Number(exit),
    ...(outcome === 'timed_out' ? { deadline_ms: deadlineMs } : {}),
    ...(outcome === 'err' ? { code: detailsLost } : {}),
    ...(outcome === 'ok' ? {} : { message: 'the event bus lost the details of this outcome before they were stored' }),
  };
}
