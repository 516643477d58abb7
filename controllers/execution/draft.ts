import { limits } from '../../crds/limits.ts';
import type { State } from '../../crds/schema/state.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type {
  BlobRef,
  FinishedStep,
  StoredValue,
  Visit,
  WorkflowExecutionStatus,
} from '../../crds/schema/workflow-execution-status.ts';
import { type Blob, createBlob } from '../../lib/output-store/blob.ts';
import { withoutRaw } from '../../lib/output-store/raw-text.ts';
import { inlineBytes, open, shrink } from '../../lib/output-store/stored-value.ts';
import { ownMember } from '../../lib/own-member.ts';
import { templateLimits } from '../../lib/template/limits.ts';
import type { Action, Decision, Happening, Need } from './decision.ts';
import type { Facts } from './facts.ts';

/** Thrown while deciding when a fact is lacking; `decide` turns it into a NeedsFacts. It never leaves this folder. */
export class LackingFacts extends Error {
  readonly needs: readonly Need[];

  constructor(needs: readonly Need[]) {
    super('deciding needs more facts');
    this.needs = needs;
  }
}

/** What all templates of one decision may cost: hundreds of them together hold the loop no longer than two. */
const decisionWork = 2 * templateLimits.work;

/** A finished step whose result has not been made small yet. */
type StepRecord = Omit<FinishedStep, 'result'> & { readonly result: unknown };

/**
 * The decision while it is being made: the next status, grown from a copy of the present one, and what must be done
 * for it. Values written in this decision are kept whole here and made small once, at the end.
 */
export class Draft {
  readonly facts: Facts;
  /** Milliseconds since the epoch; the only clock of a decision. */
  readonly now: number;
  readonly spec: WorkflowSpec;
  readonly status: WorkflowExecutionStatus;
  readonly #written = new Map<string, unknown>();
  readonly #superseded = new Map<Visit, unknown>();
  readonly #steps = new Map<string, StepRecord>();
  readonly #blobs = new Map<string, Blob>();
  readonly #actions: Action[] = [];
  readonly #happenings: Happening[] = [];
  #workLeft = decisionWork;
  #feedback: string | undefined;
  #humanFeedback: string | undefined;
  #finalOutput: unknown;
  #wakeAt: number | undefined;

  constructor(facts: Facts, now: number, spec: WorkflowSpec) {
    this.facts = facts;
    this.now = now;
    this.spec = spec;
    this.status = structuredClone(facts.execution.status) ?? { phase: 'pending' };
  }

  /** Units of work that templates of this decision may still spend together; each has its own limit as well. */
  get workLeft(): number {
    return this.#workLeft;
  }

  /** Takes off what one rendering has spent of the work it was given. */
  spendWork(given: number, left: number): void {
    this.#workLeft -= given - left;
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

  say(type: Happening['type'], reason: string, message: string): void {
    this.#happenings.push({ type, reason, message });
  }

  /** Look again at this time, unless something earlier is asked for. */
  wakeAt(time: number): void {
    this.#wakeAt = Math.min(time, this.#wakeAt ?? Number.POSITIVE_INFINITY);
  }

  /** Puts a value on the Blackboard; the last write of a key wins. */
  write(key: string, value: unknown): void {
    this.#written.set(key, value);
  }

  /** Keeps what a key holds now with the visit that wrote it, before a later visit replaces it. */
  supersede(visit: Visit, key: string): void {
    const stored = ownMember(this.status.blackboard, key);
    if (this.#written.has(key)) this.#superseded.set(visit, this.#written.get(key));
    else if (stored !== undefined) visit.output = stored;
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
    delete this.status.feedback;
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
    delete this.status.human_feedback;
  }

  get feedback(): unknown {
    return this.#feedback ?? this.#opened(this.status.feedback);
  }

  get humanFeedback(): unknown {
    return this.#humanFeedback ?? this.#opened(this.status.human_feedback);
  }

  /** The Blackboard as templates see it: large values that were not read yet are LargeValue. */
  blackboard(): Record<string, unknown> {
    const board = Object.create(null) as Record<string, unknown>;
    for (const [key, stored] of Object.entries(this.status.blackboard ?? {})) {
      if (!this.#written.has(key)) board[key] = open(stored, this.executionUid);
    }
    for (const [key, value] of this.#written) board[key] = withoutRaw(value);
    return board;
  }

  /** Ends the draft: makes every new value small enough for status and collects the blobs. */
  finish(): Decision {
    let room = limits.inlineTotalBytes - this.#inlineBytes();
    const store = (value: unknown): StoredValue => {
      const left = Math.max(0, room);
      const shrunk = shrink(value, Math.min(limits.inlineValueBytes, left), Math.min(limits.inlineRefsBytes, left));
      for (const blob of shrunk.blobs) this.#blobs.set(blob.ref, blob);
      room -= inlineBytes(shrunk.stored);
      return shrunk.stored;
    };
    for (const [key, value] of this.#written) this.#setStored(key, store(value));
    for (const [visit, value] of this.#superseded) visit.output = store(value);
    for (const [name, record] of this.#steps) this.#setStep(name, { ...record, result: store(record.result) });
    if (this.#feedback !== undefined) this.status.feedback = store(this.#feedback);
    if (this.#humanFeedback !== undefined) this.status.human_feedback = store(this.#humanFeedback);
    if (this.#finalOutput !== undefined) {
      this.status.final_output_ref = this.#keep(Buffer.from(JSON.stringify(this.#finalOutput)), 'json');
    }
    return {
      kind: 'decision',
      status: this.status,
      blobs: [...this.#blobs.values()],
      actions: this.#actions,
      happenings: this.#happenings,
      ...(this.#wakeAt === undefined ? {} : { wakeAt: this.#wakeAt }),
    };
  }

  #keep(data: Uint8Array, encoding: BlobRef['encoding']): BlobRef {
    const blob = createBlob(data);
    this.#blobs.set(blob.ref, blob);
    return { path: '', ref: blob.ref, bytes: data.byteLength, encoding };
  }

  #setStored(key: string, stored: StoredValue): void {
    // A computed key makes a member also of `__proto__`, which an assignment would not.
    this.status.blackboard = { ...this.status.blackboard, [key]: stored };
  }

  #setStep(name: string, step: FinishedStep): void {
    const { current } = this.status;
    if (current === undefined) return;
    current.steps = { ...current.steps, [name]: step };
  }

  #opened(stored: StoredValue | undefined): unknown {
    return stored === undefined ? undefined : open(stored, this.executionUid);
  }

  /** What stands inline already and stays. */
  #inlineBytes(): number {
    const { blackboard = {}, history = [], current } = this.status;
    let bytes = 0;
    for (const [key, stored] of Object.entries(blackboard)) if (!this.#written.has(key)) bytes += inlineBytes(stored);
    for (const { output } of history) if (output !== undefined) bytes += inlineBytes(output);
    for (const step of Object.values(current?.steps ?? {})) bytes += inlineBytes(step.result);
    return bytes;
  }
}
