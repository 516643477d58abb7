import { limits } from '../../../crds/limits.ts';
import type { State } from '../../../crds/schema/state.ts';
import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import type {
  BlobRef,
  FinishedStep,
  StoredValue,
  WorkflowExecutionStatus,
} from '../../../crds/schema/workflow-execution-status.ts';
import { type Blob, type BlobLocator, createBlob, locatorOf } from '../../../lib/output-store/blob.ts';
import { withoutRaw } from '../../../lib/output-store/raw-text.ts';
import { inlineBytes, open, shrink } from '../../../lib/output-store/stored-value.ts';
import { weigh } from '../../../lib/output-store/weigh.ts';
import { ownMember } from '../../../lib/own-member.ts';
import { workLimits } from '../../../lib/work/limits.ts';
import { Work } from '../../../lib/work/work.ts';
import type { Action, Decision, Happening, Need } from './decision.ts';
import type { Facts, Made } from './facts.ts';
import { type StatusChange, copyStatus, reduce, type StatusView } from './reduce.ts';

/** Thrown while deciding when a fact is lacking; `decide` turns it into a NeedsFacts. It never leaves this folder. */
export class LackingFacts extends Error {
  readonly needs: readonly Need[];

  constructor(needs: readonly Need[]) {
    super('deciding needs more facts');
    this.needs = needs;
  }
}

/** A finished step whose result has not been made small yet. */
type StepRecord = Omit<FinishedStep, 'result'> & { readonly result: unknown };

/**
 * The decision while it is being made. It is the next status, grown from a copy of the present one by changes that
 * `reduce` applies, and the actions, Events and wake-ups that belong to it. Values written in this decision are kept
 * whole here and made small once, at the end.
 */
export class Draft {
  readonly facts: Facts;
  /** Milliseconds since the epoch; the only clock of a decision. */
  readonly now: number;
  readonly spec: WorkflowSpec;
  readonly status: StatusView;
  readonly #status: WorkflowExecutionStatus;
  /** Budget of this turn; everything that grows with the objects of users takes from it (design §11). */
  readonly work = new Work();
  /** Objects for which the API server is asked before this decision holds, by `madeKey`. */
  readonly unasked = new Map<string, Made>();
  /** Whether a state was entered or left in this turn. */
  hasProgress = false;
  /** The Blackboard as templates see it, once one has asked. */
  #board: Record<string, unknown> | undefined;
  readonly #written = new Map<string, unknown>();
  /** Outputs that were written in this decision and replaced in it, by their place in the history. */
  readonly #superseded = new Map<number, unknown>();
  readonly #steps = new Map<string, StepRecord>();
  readonly #blobs = new Map<string, Blob>();
  readonly #adopted = new Map<string, BlobLocator>();
  readonly #actions: Action[] = [];
  readonly #happenings: Happening[] = [];
  #feedback: string | undefined;
  #humanFeedback: string | undefined;
  #finalOutput: unknown;
  #wakeAt: number | undefined;

  constructor(facts: Facts, now: number, spec: WorkflowSpec) {
    this.facts = facts;
    this.now = now;
    this.spec = spec;
    this.#status = copyStatus(facts.execution.status);
    this.status = this.#status;
  }

  /** Changes the status. There is no other way to. */
  change(change: StatusChange): void {
    reduce(this.#status, change);
  }

  /** Shows warnings in the status, each once. */
  warn(...lines: string[]): void {
    if (lines.length > 0) this.change({ kind: 'warned', lines });
  }

  /** Whether what comes next belongs into another turn: this one has achieved something, and may not do much more. */
  get isTurnOver(): boolean {
    return this.hasProgress && (this.work.left < workLimits.turnReserve || this.facts.refused !== undefined);
  }

  /**
   * Pays for a value before it is written.
   * @throws WorkBudgetExceeded, NestedTooDeep
   */
  weigh(value: unknown): void {
    this.work.during('writing to the Blackboard', () => weigh(value, this.work));
  }

  get time(): string {
    return new Date(this.now).toISOString();
  }

  get executionUid(): string {
    return this.facts.execution.metadata.uid ?? '';
  }

  /** The definition of the state the execution is in. */
  currentState(): State | undefined {
    const name = this.status.current?.state;
    return name === undefined ? undefined : ownMember(this.spec.states, name);
  }

  act(...actions: Action[]): void {
    this.#actions.push(...actions);
  }

  /** Whether anything is to be done so far. */
  get acts(): boolean {
    return this.#actions.length > 0;
  }

  /** An Event of the execution, which is recorded once the status is written. */
  recordEvent(type: Happening['type'], reason: string, message: string): void {
    this.#happenings.push({ type, reason, message });
  }

  /** Look again at this time, unless something earlier is asked for. */
  wakeAt(time: number): void {
    this.#wakeAt = Math.min(time, this.#wakeAt ?? Number.POSITIVE_INFINITY);
  }

  /** Puts a value that was weighed on the Blackboard; the last write of a key wins. */
  write(key: string, value: unknown): void {
    this.#written.set(key, value);
    if (this.#board === undefined) return;
    this.#board[key] = withoutRaw(value);
    this.work.changed(this.#board);
  }

  /**
   * Puts values of another execution on the Blackboard as its status has them; their large parts stay where they are
   * in the output store, which keeps them for this execution as well.
   */
  takeOver(values: ReadonlyMap<string, StoredValue>, uid: string): void {
    const board = new Map(Object.entries(this.status.blackboard ?? {}));
    for (const [key, { value, refs = [] }] of values) {
      this.#written.delete(key);
      const own = refs.map((part) => ({ ...part, stored_by: part.stored_by ?? uid }));
      board.set(key, { ...(value === undefined ? {} : { value }), ...(refs.length === 0 ? {} : { refs: own }) });
      for (const part of refs) this.#adopted.set(part.ref, locatorOf(uid, part));
    }
    this.change({ kind: 'status', fields: { blackboard: Object.fromEntries(board) } });
    this.#board = undefined;
  }

  /** Keeps what a key holds now with the visit that wrote it, before a later visit replaces it. */
  supersede(index: number, key: string): void {
    const stored = ownMember(this.status.blackboard, key);
    if (this.#written.has(key)) this.#superseded.set(index, this.#written.get(key));
    else if (stored !== undefined) this.change({ kind: 'superseded', index, output: stored });
  }

  /** Keeps the result of one step of a parallel state while others still run. */
  recordStep(name: string, record: StepRecord): void {
    this.#steps.set(name, record);
  }

  /** Whether the result of a step is in the status, or will be. */
  isRecorded(step: string): boolean {
    return this.#steps.has(step) || ownMember(this.status.current?.steps, step) !== undefined;
  }

  setFeedback(text: string | undefined): void {
    this.#feedback = text;
    if (this.status.feedback !== undefined) this.change({ kind: 'status', fields: { feedback: undefined } });
  }

  /** Keeps a final output that is too large for status in the output store. */
  setFinalOutput(output: unknown): void {
    this.#finalOutput = output;
  }

  /** Puts a text into the output store. */
  keepText(text: string): BlobRef {
    return this.#keep(Buffer.from(text), 'text');
  }

  setHumanFeedback(text: string): void {
    this.#humanFeedback = text;
    if (this.status.human_feedback !== undefined)
      this.change({ kind: 'status', fields: { human_feedback: undefined } });
  }

  get feedback(): unknown {
    return this.#feedback ?? this.#opened(this.status.feedback);
  }

  get humanFeedback(): unknown {
    return this.#humanFeedback ?? this.#opened(this.status.human_feedback);
  }

  /** The Blackboard as templates see it, as it is from now on: large values that were not read yet are LargeValue. */
  blackboard(): Readonly<Record<string, unknown>> {
    this.#board ??= this.#openBoard();
    return this.#board;
  }

  /** Ends the draft: makes every new value small enough for status and collects the blobs. */
  finish(): Decision {
    const store = this.#shrinker();
    this.#storeBoard(store);
    for (const [index, value] of this.#superseded) this.change({ kind: 'superseded', index, output: store(value) });
    this.#storeSteps(store);
    this.#storeTexts(store);
    return {
      kind: 'decision',
      status: this.#status,
      blobs: [...this.#blobs.values()],
      adopted: [...this.#adopted.values()],
      actions: this.#actions,
      happenings: this.#happenings,
      ...(this.#wakeAt === undefined ? {} : { wakeAt: this.#wakeAt }),
    };
  }

  /** Makes values small, one after another, in the room that status has for them. */
  #shrinker(): (value: unknown) => StoredValue {
    let room: number | undefined;
    return (value) => {
      room ??= limits.inlineTotalBytes - this.#inlineBytes();
      const left = Math.max(0, room);
      const shrunk = shrink(value, Math.min(limits.inlineValueBytes, left), Math.min(limits.inlineRefsBytes, left));
      for (const blob of shrunk.blobs) this.#blobs.set(blob.ref, blob);
      room -= inlineBytes(shrunk.stored);
      return shrunk.stored;
    };
  }

  #storeBoard(store: (value: unknown) => StoredValue): void {
    if (this.#written.size === 0) return;
    const board = new Map(Object.entries(this.status.blackboard ?? {}));
    for (const [key, value] of this.#written) board.set(key, store(value));
    // Made from entries, so that a key `__proto__` is a member like any other.
    this.change({ kind: 'status', fields: { blackboard: Object.fromEntries(board) } });
  }

  #storeSteps(store: (value: unknown) => StoredValue): void {
    const { current } = this.status;
    if (current === undefined || this.#steps.size === 0) return;
    const steps = [...this.#steps].map(
      ([name, record]) => [name, { ...record, result: store(record.result) }] as const,
    );
    this.change({ kind: 'visit', fields: { steps: { ...current.steps, ...Object.fromEntries(steps) } } });
  }

  #storeTexts(store: (value: unknown) => StoredValue): void {
    const fields = {
      ...(this.#feedback === undefined ? {} : { feedback: store(this.#feedback) }),
      ...(this.#humanFeedback === undefined ? {} : { human_feedback: store(this.#humanFeedback) }),
      ...(this.#finalOutput === undefined
        ? {}
        : { final_output_ref: this.#keep(Buffer.from(JSON.stringify(this.#finalOutput)), 'json') }),
    };
    this.change({ kind: 'status', fields });
  }

  #openBoard(): Record<string, unknown> {
    const board = Object.create(null) as Record<string, unknown>;
    for (const [key, stored] of Object.entries(this.status.blackboard ?? {})) {
      if (!this.#written.has(key)) board[key] = open(stored, this.executionUid);
    }
    for (const [key, value] of this.#written) board[key] = withoutRaw(value);
    return board;
  }

  #keep(data: Uint8Array, encoding: BlobRef['encoding']): BlobRef {
    const blob = createBlob(data);
    this.#blobs.set(blob.ref, blob);
    return { path: '', ref: blob.ref, bytes: data.byteLength, encoding };
  }

  #opened(stored: StoredValue | undefined): unknown {
    return stored === undefined ? undefined : open(stored, this.executionUid);
  }

  /** Bytes of the values that are inline already and stay. */
  #inlineBytes(): number {
    const { blackboard = {}, history = [], current } = this.status;
    let bytes = 0;
    for (const [key, stored] of Object.entries(blackboard)) if (!this.#written.has(key)) bytes += inlineBytes(stored);
    for (const { output } of history) if (output !== undefined) bytes += inlineBytes(output);
    for (const step of Object.values(current?.steps ?? {})) bytes += inlineBytes(step.result);
    return bytes;
  }
}
