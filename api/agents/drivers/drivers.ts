import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { aborted } from '../../../lib/aborted.ts';
import { type AppError, messageOf } from '../../../lib/errors.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { ConversationDriver } from './conversation-driver.ts';
import { type Driven, newDriven, type OpenConversation } from './driven.ts';
import { addressOf, driverAnswers, handOver, handOverMs, isUnserved } from './driver-address.ts';
import type { DriversDeps } from './drivers-deps.ts';
import { leaveAll } from './leave-all.ts';
import { createLeftConversations, type LeftConversations } from './left-conversations.ts';
import { needsDriving } from './needs-driving.ts';
import { createNoteLooks, createWaitNotes, waitingForVersion, type WaitNote, type WaitNotes } from './wait-notes.ts';

/** Conversations of all running AgentExecutions, each driven by exactly one replica (design §12). */
export interface Drivers {
  /** Drives what needs it until `stop` aborts, and lets go of what is under way in time. Never rejects. */
  run(stop: AbortSignal): Promise<void>;
  /**
   * The conversation, driven by this replica from now on where another one drove it. Undefined where it is over, or
   * `signal` aborts first.
   * @throws HttpError 503 where this replica is about to end, or a newer version has written to it; it closes the connection, so that the next request finds another one.
   */
  open(execution: AgentExecution, signal: AbortSignal): Promise<OpenConversation | undefined>;
}

/** How often a replica looks for conversations whose driver is gone. */
const scanMs = 5_000;

export function createDrivers(deps: DriversDeps): Drivers {
  return new ConversationDrivers(deps);
}

class ConversationDrivers implements Drivers {
  readonly #deps: DriversDeps;
  readonly #driver: ConversationDriver;
  readonly #driven = new Map<string, Driven>();
  /** Conversations that have left, but for a call that continues here. One may leave again before the first call has ended. */
  readonly #outlived = new Set<Driven>();
  /** Conversations to which a newer version has written: in a rolling update a replica of that version drives them. */
  readonly #tooNew = new Map<string, TooNew>();
  readonly #notes: WaitNotes;
  #stop: AbortSignal = AbortSignal.abort();

  constructor(deps: DriversDeps) {
    this.#deps = deps;
    this.#notes = createWaitNotes({ ...deps, looks: createNoteLooks(deps) });
    this.#driver = new ConversationDriver(deps, this.#notes);
    deps.executions.onChange(({ before, after }) => {
      if (after !== undefined && needsDriving(after)) this.#consider(after);
      else this.#cancel((after ?? before)?.metadata.uid ?? '');
    });
  }

  async run(stop: AbortSignal): Promise<void> {
    this.#stop = stop;
    const left = createLeftConversations({
      bus: this.#deps.bus,
      isDriven: (uid) => this.#isKept(uid),
    });
    const responder = left.serve();
    const noting = this.#notes.run(stop);
    const leaving = aborted(stop).then(() => leaveAll(this.#deps, this.#all(), this.#deps.leaving));
    while (!stop.aborted) {
      await this.#look(left);
      await this.#deps.clock.sleep(scanMs, stop);
    }
    await Promise.all([leaving, noting]);
    await responder.close(0);
  }

  #all(): Driven[] {
    return [...this.#driven.values(), ...this.#outlived];
  }

  /** One that is to leave is taken over by the replica that looks for those without a driver. */
  #isKept(uid: string): boolean {
    const driven = this.#driven.get(uid);
    if (driven === undefined || driven.leave.signal.aborted) return false;
    return driven.conversation !== undefined || driven.isHeld;
  }

  #isLeftAlone(uid: string): boolean {
    return this.#driven.has(uid) || this.#tooNew.has(uid);
  }

  #cancel(uid: string): void {
    this.#tooNew.get(uid)?.note[Symbol.dispose]();
    this.#tooNew.delete(uid);
    this.#driven.get(uid)?.cancel.abort();
    for (const driven of this.#outlived) if (driven.uid === uid) driven.cancel.abort();
  }

  /** Most conversations that another replica drives are passed over without a question for each. */
  async #look(left: LeftConversations): Promise<void> {
    const { executions, logger } = this.#deps;
    const open = [...executions.cache.values()].filter(
      (execution) => needsDriving(execution) && !this.#isLeftAlone(execution.metadata.uid ?? ''),
    );
    try {
      for (const execution of await left.among(open)) this.#consider(execution);
    } catch (error) {
      logger.warn({ problem: messageOf(error) }, 'conversations without a driver are not known');
    }
  }

  async open(execution: AgentExecution, signal: AbortSignal): Promise<OpenConversation | undefined> {
    const { uid = '' } = execution.metadata;
    while (!signal.aborted) {
      if (this.#stop.aborted) throw elsewhere('this replica is about to end; send it again');
      const current = this.#deps.executions.cache.getByUid(uid);
      if (current === undefined || !needsDriving(current)) return undefined;
      const tooNew = this.#tooNew.get(uid);
      if (tooNew !== undefined) throw elsewhere(tooNew.error.message);
      const conversation = await this.#opened(current, signal);
      if (conversation !== undefined) return conversation;
      await this.#deps.clock.sleep(retryMs, signal);
    }
    return undefined;
  }

  /** Undefined where another replica drives it for now, or it ended meanwhile. */
  async #opened(execution: AgentExecution, signal: AbortSignal): Promise<OpenConversation | undefined> {
    const known = this.#driven.get(execution.metadata.uid ?? '');
    // Another replica may drive it by now where this one pauses, unless this one holds it: asked for it, it would begin its pauses anew.
    const isHere = known !== undefined && (known.pause === undefined || known.isHeld);
    const driven = isHere ? known : await this.#takeOver(execution);
    await Promise.race([driven?.settled, aborted(signal)]);
    return driven?.conversation;
  }

  /** Closes the note, unless the conversation waits for a newer version: then its execution says so. */
  #endNote({ uid, note, tooNew: error, cancel }: Driven): void {
    if (error === undefined || cancel.signal.aborted) return note[Symbol.dispose]();
    note.waits(waitingForVersion);
    this.#tooNew.set(uid, { error, note });
  }

  /** Asks the driver of the moment to stop between two effects, and drives from there on. */
  async #takeOver(execution: AgentExecution): Promise<Driven | undefined> {
    const { uid = '' } = execution.metadata;
    const isHandedOver = await this.#askFor(uid);
    if (isHandedOver === undefined) return undefined;
    this.#consider(execution);
    const driven = this.#driven.get(uid);
    if (driven === undefined || !isHandedOver) return driven;
    driven.isHandedOver = true;
    driven.pause?.abort();
    return driven;
  }

  /** Whether its driver has handed it over; false where no process answers, undefined where that is not known. */
  async #askFor(uid: string): Promise<boolean | undefined> {
    try {
      const answer = await this.#deps.bus.request(addressOf(uid), handOver, { timeoutMs: handOverMs });
      return Buffer.from(answer).toString() === driverAnswers.leaving ? undefined : true;
    } catch (error) {
      return isUnserved(error) ? false : undefined;
    }
  }

  #consider(execution: AgentExecution): void {
    const { uid = '' } = execution.metadata;
    if (this.#stop.aborted || this.#isLeftAlone(uid)) return;
    const driven = newDriven(uid, this.#notes.open(uid));
    this.#driven.set(uid, driven);
    driven.left = this.#driver.drive(execution, driven).then(() => {
      driven.settle();
      this.#driven.delete(uid);
      this.#endNote(driven);
      if (driven.outliving !== undefined) this.#outlived.add(driven);
    });
    driven.ended = driven.left.then(() => driven.outliving).then(() => void this.#outlived.delete(driven));
  }
}

/** A conversation that a replica of a newer version is to drive. */
interface TooNew {
  readonly error: AppError;
  readonly note: WaitNote;
}

const retryMs = 200;

const elsewhere = (message: string): HttpError =>
  new HttpError({
    code: 'unavailable',
    message,
    headers: { Connection: 'close', 'Retry-After': '1' },
  });
