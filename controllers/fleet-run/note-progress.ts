import type { FleetRun, FleetRunStatus } from '../../crds/schema/fleet-run.ts';
import { busFull } from './bus-full.ts';
import { type FinishDeps, write } from './finish.ts';
import { isNotStored, notStored } from './record/not-stored.ts';
import type { RecordStore } from './record/record-parts.ts';
import { storeRecords } from './record/store-records.ts';
import { type StatedReason, statusWith } from './status.ts';
import type { RunView } from './view/run-view.ts';

type NoteDeps = Pick<FinishDeps, 'kube' | 'runs' | 'clock'> & RecordStore;

/** The answer of the store to the oldest outcomes that waited for their part of the record. */
interface Kept {
  /** So many of them are stored. */
  readonly count: number;
  readonly fields: Partial<FleetRunStatus>;
  /** Why none of them is. */
  readonly why?: StatedReason;
}

/** Stores so many of the oldest outcomes. Where the API server stores none, such as for want of room in a quota, they wait on. */
export async function keepRecords(deps: NoteDeps, run: FleetRun, view: RunView, count: number): Promise<Kept> {
  try {
    const fields = await storeRecords(deps, run, view.unstored.all.slice(0, count));
    view.unstored.noteStorable(true);
    return { count, fields };
  } catch (error) {
    if (!isNotStored(error)) throw error;
    view.unstored.noteStorable(false);
    return { count: 0, fields: {}, why: notStored('outcomes', error) };
  }
}

/** Writes how far the run is, and what it waits for where its outcomes are not stored. */
export async function noteProgress(
  deps: NoteDeps,
  run: FleetRun,
  view: RunView,
  { fields, kept }: { readonly fields: Partial<FleetRunStatus>; readonly kept: Kept },
): Promise<void> {
  const all = { ...fields, ...kept.fields, ...progressOf(view, kept.count) };
  await write(deps, run, statusWith(run, deps.clock.now(), all, kept.why ?? (view.isBusFull ? busFull : undefined)));
  view.noteStored(kept.count);
}

/**
 * How far a run is, as its object keeps it for every process: each outcome that is counted is in the record, or in `open_outcomes`
 * (ADR 0165). Hosts that were never sent the command are counted at the end.
 */
function progressOf(view: RunView, stored: number) {
  const { sentSince } = view;
  const { text, rest } = view.openOutcomes(stored);
  const summary = { ...view.progress.summary, not_started: 0 };
  for (const { outcome } of rest) summary[outcome] -= 1;
  return {
    summary,
    in_flight: view.progress.inFlight + rest.length,
    open_outcomes: text,
    ...(sentSince === undefined ? {} : { sent_since: new Date(sentSince).toISOString() }),
  };
}
