import { limits } from '../../../crds/limits.ts';
import type { AgentExecution, AgentWait } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { cutText } from '../../../lib/cut-text.ts';
import { messageOf } from '../../../lib/errors.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { isConflict, type KubeClient } from '../../../lib/kube/index.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { ProviderWait } from '../../../lib/models/models.ts';
import { createDriverLooks, type DriverLooks, type DriverLooksDeps, mayBeDriven } from './driver-address.ts';
import { createPartsByNamespace } from './left-conversations.ts';
import { needsDriving } from './needs-driving.ts';

/** Why a conversation waits, at the moment in which it is asked: a provider that was busy may rest by now. */
type WhyWaits = () => Omit<AgentWait, 'since'>;

/** Takes what one replica knows of the waits of one conversation. Dispose of it when the replica has no more to do with it. */
export interface WaitNote extends Disposable {
  /** The conversation waits from now on. Dispose of what this returns when that is over. */
  waits(why: WhyWaits): Disposable;
  /** This replica drives the conversation: what its object says follows what this replica knows, until another one drives it. */
  drives(isDriving: boolean): void;
}

/** Says on the objects of executions why their conversations wait for long (ADR 0168). */
export interface WaitNotes {
  open(uid: string): WaitNote;
  /** Writes what is due until `stop` aborts. Never rejects. */
  run(stop: AbortSignal): Promise<void>;
  /** Takes away what the object of a conversation that has ended says. Never rejects. */
  end(uid: string): Promise<void>;
}

interface WaitNotesDeps {
  readonly kube: Pick<KubeClient, 'mergePatch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly looks: DriverLooks;
  readonly executions: { readonly cache: Pick<CacheReader<AgentExecution>, 'getByUid' | 'remember'> };
}

export const waitingForRoom: WhyWaits = () => ({
  reason: 'WaitingForRoom',
  message: 'the conversation waits for memory of a replica of the API; other conversations have it',
});

export const waitingForVersion: WhyWaits = () => ({
  reason: 'WaitingForVersion',
  message: 'a newer version of Windlass has written to the conversation, which waits for a replica of that version',
});

export const waitingForProvider = ({ provider, isResting }: ProviderWait): ReturnType<WhyWaits> =>
  isResting()
    ? {
        reason: 'ProviderResting',
        message: `the provider ${provider} failed; the question waits until it is sent again`,
      }
    : {
        reason: 'ProviderBusy',
        message: `the question waits for its turn at the provider ${provider}, by max_concurrency or tokens_per_minute`,
      };

export const waitNoteLimits = {
  /** Shorter waits, and shorter pauses between two of them, are not written down. */
  settleMs: 10_000,
  /** One pass each so often writes so many notes at most, of all tenants in turn. */
  passMs: 5_000,
  ofPass: 25,
  /** How long a note rests that could not be written, or whose conversation another replica may drive. */
  againMs: 60_000,
} as const;

/**
 * Looks for the notes alone, which must not count as silences of a driver elsewhere. They are far apart, and a wrong verdict costs
 * one note, which the driver takes away.
 */
export const createNoteLooks = (deps: Omit<DriverLooksDeps, 'apartMs'>): DriverLooks =>
  createDriverLooks({ ...deps, apartMs: 10 * waitNoteLimits.againMs });

export function createWaitNotes(deps: WaitNotesDeps): WaitNotes {
  return new PacedNotes(deps);
}

interface NoteState {
  why: WhyWaits | undefined;
  /** As `why` said when it was last asked, and since when (`steadyMs`) it has said so. */
  reason: AgentWait['reason'] | undefined;
  since: number;
  isDriving: boolean;
  /** A replica that does not drive the conversation says once why it waits: the driver may take that away. */
  isSaid: boolean;
  notBefore: number;
}

class PacedNotes implements WaitNotes {
  readonly #deps: WaitNotesDeps;
  readonly #notes = new Map<string, NoteState>();
  readonly #parts = createPartsByNamespace<AgentExecution>();

  constructor(deps: WaitNotesDeps) {
    this.#deps = deps;
  }

  open(uid: string): WaitNote {
    const now = this.#deps.clock.steadyMs();
    const note: NoteState = {
      why: undefined,
      reason: undefined,
      since: now,
      isDriving: false,
      isSaid: false,
      notBefore: now,
    };
    this.#notes.set(uid, note);
    return {
      waits: (why) => {
        note.why = why;
        note.isSaid = false;
        this.#ask(note);
        return {
          [Symbol.dispose]: () => {
            if (note.why === why) note.why = undefined;
            this.#ask(note);
          },
        };
      },
      drives: (isDriving) => void (note.isDriving = isDriving),
      [Symbol.dispose]: () => {
        if (this.#notes.get(uid) === note) this.#notes.delete(uid);
      },
    };
  }

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.#pass(stop);
      await this.#deps.clock.sleep(waitNoteLimits.passMs, stop);
    }
  }

  async end(uid: string): Promise<void> {
    const execution = this.#deps.executions.cache.getByUid(uid);
    if (execution?.spec.wait === undefined) return;
    await this.#write(execution, undefined).catch((error: unknown) => this.#warn(execution, error));
  }

  /** One after another: the API server has other work as well. */
  async #pass(stop: AbortSignal): Promise<void> {
    const due = [...this.#notes].flatMap(([uid, note]) => this.#due(uid, note) ?? []);
    for (const { metadata } of this.#parts.next(due, waitNoteLimits.ofPass)) {
      if (stop.aborted) return;
      const { uid = '' } = metadata;
      const note = this.#notes.get(uid);
      if (note === undefined) continue;
      // Its wait may be over by now.
      const execution = this.#due(uid, note);
      if (execution !== undefined) await this.#say(execution, note);
    }
  }

  /** The execution whose object is to say something else than it does. */
  #due(uid: string, note: NoteState): AgentExecution | undefined {
    const now = this.#deps.clock.steadyMs();
    this.#ask(note);
    if (now < note.notBefore || now - note.since < waitNoteLimits.settleMs) return undefined;
    if (!note.isDriving && (note.why === undefined || note.isSaid)) return undefined;
    const execution = this.#deps.executions.cache.getByUid(uid);
    if (execution === undefined || !needsDriving(execution)) return undefined;
    return execution.spec.wait?.reason === note.reason ? undefined : execution;
  }

  #ask(note: NoteState): void {
    const reason = note.why?.().reason;
    if (reason === note.reason) return;
    note.reason = reason;
    note.since = this.#deps.clock.steadyMs();
  }

  async #say(execution: AgentExecution, note: NoteState): Promise<void> {
    const { clock, looks } = this.#deps;
    const { uid = '' } = execution.metadata;
    try {
      if (!note.isDriving && mayBeDriven(await looks.look(uid))) {
        note.notBefore = clock.steadyMs() + waitNoteLimits.againMs;
        return;
      }
      await this.#write(execution, this.#waitOf(note));
      note.isSaid = true;
    } catch (error) {
      if (!isConflict(error)) note.notBefore = clock.steadyMs() + waitNoteLimits.againMs;
      this.#warn(execution, error);
    }
  }

  #waitOf({ why, since }: NoteState): AgentWait | undefined {
    if (why === undefined) return undefined;
    const { clock } = this.#deps;
    const { reason, message } = why();
    const begun = clock.now() - (clock.steadyMs() - since);
    return { reason, message: cutText(message, limits.agentWaitLength), since: new Date(begun).toISOString() };
  }

  /** Against the version that the cache has: another writer may have said more since. */
  async #write({ metadata }: AgentExecution, wait: AgentWait | undefined): Promise<void> {
    const { name, namespace = '', uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion }, spec: { wait: wait ?? null } };
    const { kube, executions } = this.#deps;
    executions.cache.remember(await kube.mergePatch(agentExecutions, { name, namespace }, patch));
  }

  #warn({ metadata: { namespace, name } }: AgentExecution, error: unknown): void {
    const problem = messageOf(error);
    this.#deps.logger.debug({ namespace, execution: name, problem }, 'the wait of a conversation is not written down');
  }
}
