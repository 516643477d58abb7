import type { Blockage, PodFact, StepOutcome, Waiting } from '../../controllers/execution/engine/facts.ts';
import { podName } from '../../controllers/execution/engine/names.ts';
import type { StepPlan } from '../../controllers/step-pods/step.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { PodSlot } from '../../lib/pod-slot.ts';

/** The outcome of a container in tests; absent fields are those of `true`. */
export type OutcomeFields = Partial<StepOutcome>;

export const anOutcome = (fields: OutcomeFields = {}): StepOutcome => ({
  exitCode: 0,
  stdout: '',
  stderr: '',
  stdoutTruncated: false,
  stderrTruncated: false,
  durationMs: 5,
  ...(fields.exitCode !== undefined && fields.exitCode !== 0
    ? { failure: { reason: 'ExitCode', message: `exit code ${fields.exitCode}` } as const }
    : {}),
  ...fields,
});

interface WorldPod extends PodFact {
  readonly plan: StepPlan;
}

/** The world around the pods at this moment. */
interface Around {
  readonly execution: WorkflowExecution;
  readonly now: number;
  /** The reason for which new pods wait; undefined: they run at once. */
  readonly waiting: Waiting | undefined;
  /** Why the API server makes no pod now. */
  readonly blocked: Blockage | undefined;
}

/** The pods of one execution by name, with what the kubelet and the API server do with them. */
export class WorldPods extends Map<string, WorldPod> {
  readonly #around: Around;

  constructor(around: Around) {
    super();
    this.#around = around;
  }

  create(slot: PodSlot, plan: StepPlan): void {
    const { execution, now, waiting, blocked } = this.#around;
    const name = podName(execution, slot);
    if (this.has(name) || blocked !== undefined) return;
    const begunAt = waiting === undefined ? now : undefined;
    const fact = { name, uid: name, slot, plan, held: true, deleting: false, ended: false, lost: false };
    this.set(name, { ...fact, begunAt, waiting });
  }

  /** A pod that gets a signal ends with exit code 143. */
  stop(name: string): void {
    const failure = { reason: 'PodDeleted', message: 'stopped by a signal' } as const;
    this.#change(name, { deleting: true, ...this.#ended(anOutcome({ exitCode: 143, failure })) });
  }

  release(name: string, stop: boolean): void {
    const pod = this.get(name);
    if (pod !== undefined) this.set(name, { ...pod, held: false, ended: true, deleting: pod.deleting || stop });
  }

  end(what: string, fields: OutcomeFields): void {
    this.#change(this.runningOf(what).name, this.#ended(anOutcome(fields)));
  }

  begin(what: string): void {
    this.#change(this.runningOf(what).name, { begunAt: this.#around.now, waiting: undefined });
  }

  drain(): void {
    for (const name of this.keys()) this.#change(name, { deleting: true });
  }

  /** Those that run now, by state or `state/step`. */
  running(): string[] {
    return [...this.values()].filter(({ ended }) => !ended).map(({ slot }) => slotName(slot));
  }

  /** The running pod of a state, or of `state/step`. */
  runningOf(what: string): WorldPod {
    const pod = [...this.values()].findLast(({ slot, ended }) => !ended && slotName(slot) === what);
    if (pod === undefined) throw new Error(`no pod of ${what} runs; running: ${this.running().join(', ')}`);
    return pod;
  }

  #ended(outcome: StepOutcome): Partial<PodFact> {
    return { ended: true, endedAt: this.#around.now, outcome };
  }

  #change(name: string, fields: Partial<PodFact>): void {
    const pod = this.get(name);
    if (pod !== undefined) this.set(name, { ...pod, ...fields });
  }
}

const slotName = ({ state, step }: PodSlot): string => (step === undefined ? state : `${state}/${step}`);
