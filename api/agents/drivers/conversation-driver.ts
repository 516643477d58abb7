import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { aborted } from '../../../lib/aborted.ts';
import { exponential, halfJitter } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { heldBytes } from '../../../lib/conversation/held-bytes.ts';
import { AppError, hasReason, messageOf } from '../../../lib/errors.ts';
import type { ProviderWait } from '../../../lib/models/models.ts';
import { tryPaced } from '../../../lib/retry.ts';
import { createOutlivingCalls, type OutlivingCalls } from '../calls/outliving-calls.ts';
import { openSignedCalls } from '../calls/serve-signed.ts';
import type { SignedCalls } from '../calls/signed-calls.ts';
import { drive } from '../conversation/conversation.ts';
import type { ConversationDeps } from '../conversation/conversation-deps.ts';
import { conversationOf } from '../conversation/conversation-of.ts';
import { type LiveNews, liveAddress } from '../conversation/live.ts';
import { type ConversationLog, isMoving, Stopped } from '../conversation/log.ts';
import { PodChannel } from '../pods/pod-channel.ts';
import { hear } from '../pods/pod-sayings.ts';
import { Parked } from '../verdicts/approvals.ts';
import { JudgeLater } from '../verdicts/judge-agents.ts';
import { bugTriesMax, type ConversationEnds, createConversationEnds } from './conversation-ends.ts';
import { DeadlineSignal } from './deadline-signal.ts';
import { type Driven, type OpenConversation, withdraw } from './driven.ts';
import { createDriverLooks, type DriverLooks, handOverMs, mayBeDriven, reconnectMs } from './driver-address.ts';
import type { DriversDeps } from './drivers-deps.ts';
import { Grown, holders, readInto, settleRoom } from './grown.ts';
import { lastingOrThrow } from './lasting.ts';
import { createOpenLog, type OpenLog } from './open-log.ts';
import { writeOutcome } from './outcome.ts';
import { leaveOvertaken, watchOvertaken } from './overtaken.ts';
import { Room, roomLimits, wantedFor } from './room.ts';
import { createRoomLine, type RoomEntry, type RoomLine } from './room-line.ts';
import { serveDriver } from './serve-driver.ts';
import { waitingForProvider, type WaitNotes } from './wait-notes.ts';

/** Pauses of a conversation that was interrupted and does not advance: of all those that Kubernetes refuses at a time. */
const interruptedPauses = { baseMs: 2_000, maxMs: 60_000 } as const;
/** Pauses of a conversation that waits for what the cache does not show. */
const unseenPauses = { baseMs: 1_000, maxMs: 30_000 } as const;
/** Replicas that have tried a conversation in vain, behind which no other one takes it in a pause. */
const triedBy = 2;
/** A judge that is started adds no record. */
const parkedAtOnce = 2;

/**
 * `parked`: it waits for a person or a judge; `unsure`: its driver is not heard, and is looked at again; a `Grown` continues in a
 * larger place in the pool.
 */
type Driving = 'done' | 'parked' | 'unsure' | Grown;

interface Opened {
  readonly driven: Driven;
  readonly conversation: ConversationDeps;
  readonly deadline: DeadlineSignal;
  readonly room: Room;
}

/** Between a pod that was lost and the next one, the status names an attempt without a pod: the lost one gets nothing more. */
function isPodOf(execution: AgentExecution | undefined, podUid: string): boolean {
  const pod = execution?.status?.pod;
  return pod === undefined || pod.uid === podUid;
}

/** An error that no code throws on purpose. */
const isBug = (error: unknown): boolean => !(error instanceof AppError || error instanceof JudgeLater);

/** A bug was met in each attempt: no other one would do better. */
class MetABug extends Error {}

/** Whether anything was written that a driver continues. */
const isBegun = ({ last, state }: ConversationLog): boolean => last > 0 && state.result === undefined;

/** Drives conversations to their end, each in a place of the pool of its own, as long as no other replica drives it. */
export class ConversationDriver {
  readonly #deps: DriversDeps;
  readonly #openLog: OpenLog;
  readonly #ends: ConversationEnds;
  readonly #line: RoomLine;
  readonly #looks: DriverLooks;
  readonly #notes: Pick<WaitNotes, 'end'>;
  /** This replica, in the records of the conversations that it takes over. */
  readonly #id: string;

  constructor(deps: DriversDeps, notes: Pick<WaitNotes, 'end'>) {
    this.#deps = deps;
    this.#notes = notes;
    this.#id = deps.newId();
    this.#looks = createDriverLooks(deps);
    this.#openLog = createOpenLog(deps);
    this.#ends = createConversationEnds(deps, this.#openLog);
    this.#line = createRoomLine({ ...deps, looks: this.#looks });
  }

  /** Never rejects: what fails here is tried again after a pause, in which any other replica may try it. */
  async drive(execution: AgentExecution, driven: Driven): Promise<void> {
    const { random } = this.#deps;
    const signal = AbortSignal.any([driven.cancel.signal, driven.leave.signal]);
    let failures = 0;
    let bugs = 0;
    let { advances } = driven;
    const pauseAfter = (error: unknown): number => {
      if (signal.aborted || isMoving(error)) throw error;
      this.#warn(execution, error);
      if (hasReason(error, 'ConversationTooNew')) driven.tooNew = error;
      if (driven.tooNew !== undefined) throw error;
      const hasAdvanced = driven.advances > advances;
      failures = hasAdvanced ? 1 : failures + 1;
      bugs = isBug(error) ? (hasAdvanced ? 1 : bugs + 1) : 0;
      if (bugs >= bugTriesMax) throw new MetABug();
      advances = driven.advances;
      return halfJitter(interruptedPauses, failures - 1, random());
    };
    const sleep: Clock['sleep'] = (ms) =>
      driven.isHeld ? this.#hold(driven, ms, signal) : this.#pause(driven, ms, signal);
    const pace = { clock: { sleep }, pauseAfter, signal };
    // Each other error behind which it is tried no more means that it is driven no more here.
    await tryPaced(pace, () => this.#driveUntilDone(execution, driven, signal)).catch(async (error: unknown) => {
      if (error instanceof MetABug) await this.#endOfBug(execution, driven.giveUp.signal);
    });
  }

  /** Ends before its time where the conversation was handed over to this replica. */
  async #pause(driven: Driven, ms: number, signal: AbortSignal): Promise<void> {
    driven.pause = new AbortController();
    await this.#deps.clock.sleep(ms, AbortSignal.any([signal, driven.pause.signal]));
    driven.pause = undefined;
  }

  /** As a pause, in which other replicas find a driver (ADR 0140). */
  async #hold(driven: Driven, ms: number, signal: AbortSignal): Promise<void> {
    const responder = serveDriver(this.#deps, driven.uid, driven);
    await this.#pause(driven, ms, signal);
    // One that is asked to leave answers once it has left.
    const closed = responder.close(signal.aborted ? handOverMs : 0);
    if (!signal.aborted) await closed;
  }

  /** Never rejects: where it cannot be written down, the next driver meets the bug as often. */
  #endOfBug(execution: AgentExecution, giveUp: AbortSignal): Promise<void> {
    return this.#ends.byBug(execution, giveUp).catch((error: unknown) => this.#warn(execution, error));
  }

  #warn({ metadata: { namespace, name, uid } }: AgentExecution, error: unknown): void {
    const bug = isBug(error) ? { err: error } : {};
    const problem = messageOf(error);
    this.#deps.logger.warn({ namespace, execution: name, uid, problem, ...bug }, 'conversation interrupted');
  }

  async #driveUntilDone(execution: AgentExecution, driven: Driven, signal: AbortSignal): Promise<void> {
    const { namespace = '', uid = '' } = execution.metadata;
    let cost: number = roomLimits.unreadBytes;
    let parked = 0;
    for (;;) {
      // A person may take days, and an agent that judges minutes: until then nothing is held for the conversation but this.
      await this.#deps.approvals.idle(uid, signal);
      await this.#deps.judges.idle(execution, signal);
      const { advances } = driven;
      const outcome = await this.#driveInPlace(execution, driven, { tenant: namespace, cost, signal });
      if (outcome === 'done') return;
      if (outcome === 'unsure') await this.#pause(driven, reconnectMs, signal);
      if (outcome instanceof Grown) cost = wantedFor(outcome.textBytes);
      parked = outcome === 'parked' && driven.advances === advances ? parked + 1 : 0;
      if (parked >= parkedAtOnce)
        await this.#deps.clock.sleep(exponential(unseenPauses, parked - parkedAtOnce), signal);
    }
  }

  async #driveInPlace(execution: AgentExecution, driven: Driven, entry: RoomEntry): Promise<Driving> {
    const place = await this.#line.enter(driven, entry);
    try {
      return await this.#driveInTime(execution, driven, new Room(place, entry.cost));
    } finally {
      // A call that continues here keeps its place.
      if (driven.outliving === undefined) place.leave();
      else void driven.outliving.finally(() => place.leave());
    }
  }

  async #driveInTime(execution: AgentExecution, driven: Driven, room: Room): Promise<Driving> {
    using deadline = new DeadlineSignal(this.#deps.clock, execution, driven.cancel.signal);
    try {
      return await this.#driveWithin(execution, { driven, deadline, room });
    } catch (error) {
      if (!deadline.isOver || isMoving(error)) throw error;
      await this.#ends.late(execution, driven.giveUp.signal);
      return 'done';
    }
  }

  async #driveWithin(execution: AgentExecution, within: Omit<Opened, 'conversation'>): Promise<Driving> {
    const { driven, deadline, room } = within;
    const { uid = '' } = execution.metadata;
    // Before anything is read: most of those that another replica drives are looked at again and again.
    await this.#requireUndriven(uid);
    const giveUp = driven.giveUp.signal;
    const log = await this.#openLog(execution, { signal: deadline.signal, giveUp });
    const read = await readInto(room, log).catch(lastingOrThrow);
    if (read instanceof AppError) {
      await this.#ends.failed(execution, log, read);
      return 'done';
    }
    if (read instanceof Grown) return read;
    if (isBegun(log) && !(await this.#isLeft(uid, driven, log))) return 'unsure';
    const tell = (news: LiveNews): void => this.#deps.bus.tell(liveAddress(uid), JSON.stringify(news));
    const leave = driven.leave.signal;
    const isCurrent = (podUid: string): boolean => isPodOf(this.#deps.executions.cache.getByUid(uid), podUid);
    const channel = new PodChannel({
      log,
      leave,
      newId: this.#deps.newId,
      tell: (sequence) => tell({ sequence }),
      isCurrent,
    });
    const outliving = this.#outlivingCalls(execution, driven);
    const held = holders(driven, log, room);
    const onWait = (wait: ProviderWait) => driven.note.waits(() => waitingForProvider(wait));
    const parts = { log, channel, tell, giveUp: AbortSignal.any([giveUp, log.overtaken]), outliving, onWait, ...held };
    const conversation = await conversationOf(this.#deps, execution, parts).catch(lastingOrThrow);
    if (conversation instanceof AppError) {
      await this.#ends.failed(execution, log, conversation);
      return 'done';
    }
    settleRoom(room, driven, conversation);
    return this.#serveAndConverse(execution, { ...within, conversation });
  }

  /** @throws Stopped where another replica may drive the conversation. */
  async #requireUndriven(uid: string) {
    const look = await this.#looks.look(uid);
    if (mayBeDriven(look)) throw new Stopped();
    return look;
  }

  /**
   * Whether another replica that has written to the conversation drives it no more. One whose connection breaks is not heard for
   * a moment: it counts as gone where it is not heard twice, and wrote nothing in between (ADR 0144).
   */
  async #isLeft(uid: string, driven: Driven, { last }: ConversationLog): Promise<boolean> {
    const look = await this.#requireUndriven(uid);
    const isKnown = driven.isHandedOver || driven.place === last;
    driven.isHandedOver = false;
    driven.place = last;
    return isKnown || look === 'left';
  }

  #outlivingCalls(execution: AgentExecution, driven: Driven): OutlivingCalls {
    const { bus, clock } = this.#deps;
    const { cancel, moved } = driven;
    const onOutlives = (ended: Promise<void>): void => void (driven.outliving = ended);
    return createOutlivingCalls({ bus, clock, execution, cancel: cancel.signal, moved: moved.signal, onOutlives });
  }

  async #serveAndConverse(execution: AgentExecution, open: Opened): Promise<Driving> {
    const { log, channel } = open.conversation;
    using _watch = watchOvertaken(this.#deps.clock, log, () => leaveOvertaken(open.driven, log, channel));
    const responder = serveDriver(this.#deps, execution.metadata.uid ?? '', open.driven);
    const signed = openSignedCalls(this.#deps.bus, open.conversation, {
      room: open.room,
      leave: open.driven.leave.signal,
    });
    let begun = Number.POSITIVE_INFINITY;
    try {
      // Served before anything is written: a replica that finds a record finds its driver as well.
      await Promise.race([responder.ready, aborted(AbortSignal.any([open.deadline.signal, open.driven.leave.signal]))]);
      const isTaken = isBegun(log);
      // A replica that is refused for long takes over again and again.
      const isKnown = log.state.takenOverBy.has(this.#id);
      if (isTaken && !isKnown) await log.append({ kind: 'taken_over', by: this.#id });
      log.overtaken.throwIfAborted();
      begun = log.last;
      open.driven.note.drives(true);
      signed.resume();
      await this.#converse(execution, { ...open, signed });
      return 'done';
    } catch (error) {
      withdraw(open.driven);
      if (error instanceof Parked) return 'parked';
      open.driven.note.drives(false);
      if (error instanceof Grown) return error;
      throw error;
    } finally {
      if (log.last > begun) open.driven.advances += 1;
      open.driven.place = log.last;
      open.driven.isHeld = log.state.takenOverBy.size >= triedBy;
      open.conversation.outliving.leave();
      channel.close();
      await signed.close();
      // The one that asks for the conversation waits for the end of this, not the other way round.
      void responder.close(handOverMs);
    }
  }

  async #converse(execution: AgentExecution, open: Opened & { readonly signed: SignedCalls }): Promise<void> {
    const { driven, conversation, signed, deadline, room } = open;
    const { log, channel } = conversation;
    const hears: OpenConversation['hear'] = (saying, signal) => hear(conversation, saying, { room, signal });
    driven.conversation = { channel, signed, state: log.state, hear: hears };
    driven.settle();
    const isLeaving = (): boolean => {
      if (driven.leave.signal.aborted) return true;
      const held = heldBytes(log.state);
      if (!room.fits(held)) throw new Grown(held);
      return false;
    };
    const result = await drive(conversation, AbortSignal.any([deadline.signal, log.overtaken]), isLeaving);
    await this.#notes.end(driven.uid);
    await writeOutcome(this.#deps, execution, result, conversation.inputBytes);
  }
}
