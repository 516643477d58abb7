import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type PartTurn, readOutcomes, readTargets, storeReader } from '../../../lib/fleet/run-record.ts';
import { AppError } from '../../../lib/errors.ts';
import type { FairPool } from '../../../lib/fair-pool.ts';
import { createLoopTurns } from '../../../lib/loop-turns.ts';
import type { OutputStore } from '../../../lib/output-store/output-store.ts';
import type { KeepArgs } from '../commands/run-arguments.ts';
import type { HeapBudget } from '../heap-budget.ts';
import { heapBytesOf, type ViewSize } from './heap-bytes.ts';
import type { HeapRoom } from './heap-room.ts';
import type { NewsReader } from './news-reader.ts';
import { RunView, type ViewFacts } from './run-view.ts';

interface OpenViewsDeps {
  readonly clock: Clock;
  readonly store: Pick<OutputStore, 'get'>;
  readonly newsReader: NewsReader;
  /** Bytes of output that all runs keep. */
  readonly outputs: FairPool;
  /** Turns of the parts of records that are read for all runs. */
  readonly heapBudget: HeapBudget;
  readonly keepArgs: KeepArgs;
  /** Room for the views of all runs. */
  readonly rooms: HeapRoom;
  /** Called for each view that opens; what it serves ends with the view. */
  readonly serveRecords: (view: RunView) => void;
  readonly wake: (key: string) => void;
}

/** A run that asks for room, and is not open yet. */
interface Wish {
  readonly tenant: string;
  readonly commands: number;
}

/** The runs that this process drives. */
export class OpenViews {
  readonly #deps: OpenViewsDeps;
  readonly #open = new Map<string, RunView>();
  readonly #wishes = new Set<Wish>();

  constructor(deps: OpenViewsDeps) {
    this.#deps = deps;
  }

  /** Undefined where this process does not drive the run. */
  of(uid: string): RunView | undefined {
    return this.#open.get(uid);
  }

  /** Takes room for the view of a run, and answers whether there was some; else the run waits in line, and is woken. */
  takeRoom(run: FleetRun, tenant: string, size: ViewSize): boolean {
    const { name, namespace = '', uid = '' } = run.metadata;
    const { rooms, wake } = this.#deps;
    const bytes = heapBytesOf(run, size);
    return rooms.take({ uid, tenant, bytes, isEnding: isEnding(run), wake: () => wake(`${namespace}/${name}`) });
  }

  /** The room of a run, for `open`. */
  roomOf(uid: string): object | undefined {
    return this.#deps.rooms.of(uid);
  }

  isWaiting(uid: string): boolean {
    return this.#deps.rooms.isWaiting(uid);
  }

  /**
   * Opens the view of a run that has room. `room` is the one that it had when the work for it began.
   * @throws AppError `lost_leadership` where that was given back since: this process may drive the run no more.
   */
  open(facts: ViewFacts, room: object | undefined): RunView {
    const { name, namespace = '', uid = '' } = facts.run.metadata;
    if (room === undefined || this.roomOf(uid) !== room) throw new AppError('lost_leadership', 'the run was closed');
    const { newsReader: news, clock, outputs, keepArgs, wake, serveRecords } = this.#deps;
    this.#open.get(uid)?.close();
    const view = new RunView({ news, clock, outputs, keepArgs, wake: () => wake(`${namespace}/${name}`) }, facts);
    this.#open.set(uid, view);
    serveRecords(view);
    void view.follow();
    return view;
  }

  /** Opens the view of a run that was begun before, and has room. Throws as `open`, and AppError `OutputLost` where its record is gone. */
  async reopen(run: FleetRun, tenant: string): Promise<RunView> {
    const room = this.roomOf(run.metadata.uid ?? '');
    const read = storeReader(this.#deps.store);
    const inTurn: PartTurn = (task, part) => this.#deps.heapBudget(tenant, [part], task);
    const targets = await readTargets(read, run, inTurn);
    const records = await readOutcomes(read, run, inTurn);
    return this.open({ run, tenant, targets, records, isNew: false }, room);
  }

  /**
   * Notes that a run of a tenant is about to send so many commands, until it is disposed of, and answers how many the others have yet to
   * send. A run counts those that asked before it.
   */
  wish(tenant: string, commands: number): Disposable & { readonly unsent: number } {
    const unsent = this.#unsentOf(tenant);
    const wish = { tenant, commands };
    this.#wishes.add(wish);
    return { unsent, [Symbol.dispose]: () => void this.#wishes.delete(wish) };
  }

  #unsentOf(tenant: string): number {
    let unsent = 0;
    for (const view of this.#open.values()) if (view.tenant === tenant) unsent += view.unsent;
    for (const wish of this.#wishes) if (wish.tenant === tenant) unsent += wish.commands;
    return unsent;
  }

  /** The run needs no view any more, and none that it waits for. */
  close(uid: string): void {
    this.#open.get(uid)?.close();
    this.#open.delete(uid);
    this.#deps.rooms.leave(uid);
  }

  /** No run has a view from now on, and none that is being opened gets one. The views close in turns of the event loop. */
  async closeAll(): Promise<void> {
    const views = [...this.#open.values()];
    this.#open.clear();
    // No run that waits gets the room of one that is closed.
    const left = this.#deps.rooms.leaveAll();
    const spend = createLoopTurns(closedPerTurn);
    for (const view of views) {
      view.close();
      await spend(1);
    }
    await left;
  }
}

/** Views that close in one turn of the event loop: each ends what waits for some hundred commands. */
const closedPerTurn = 20;

/** Begun, and only to be ended. */
const isEnding = ({ metadata, spec, status }: FleetRun): boolean =>
  status?.started_at !== undefined && (spec.cancel !== undefined || metadata.deletionTimestamp !== undefined);
