import { isBusFull } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import {
  type EdgeOutcome,
  edgeUnavailableReason,
  isEdgeUnavailable,
  isUnsent,
  type SealedCommand,
} from '../../../lib/edge/index.ts';
import { AppError, messageOf } from '../../../lib/errors.ts';
import type { CommandSender, FleetCommand } from '../commands/command.ts';
import type { Args } from '../commands/run-arguments.ts';
import { fleetRunLimits } from '../limits.ts';
import { outcomeUnknown, resultLost } from './outcome-unknown.ts';

/** Outcome of handing a command over. */
export type Launch =
  /** The relay has it. */
  | { readonly kind: 'sent' }
  /** It may have been sent: the answer was lost, or this process could not find out. */
  | { readonly kind: 'unsure' }
  /** It was never sent, and will not be. */
  | { readonly kind: 'failed'; readonly result: EdgeOutcome }
  /** The run stopped before it left: it was never sent, and will not be. */
  | { readonly kind: 'stopped' }
  /** This process stops, or the command has its outcome already. */
  | { readonly kind: 'left' };

interface LaunchDeps {
  readonly sender: Pick<CommandSender, 'claim' | 'recordOf' | 'seal' | 'send'>;
  readonly clock: Clock;
}

interface Launching {
  readonly command: FleetCommand;
  readonly stop: AbortSignal;
  /** A process before this one may have sent it. */
  readonly mayBeSent: boolean;
  /** Where the command was claimed as if it had never left: until when its host may take it; undefined: it never left. */
  readonly newUntil?: () => Promise<number | undefined>;
  /**
   * Waits for the command's turn. It is held for one call alone, so that hosts that are away hold up no other.
   * Rejects where none comes.
   */
  readonly turn: () => Promise<Disposable>;
  /** Whether the run starts nothing more: a command that has not left by then never does. */
  readonly isStopped: () => boolean;
  /** Whether its outcome is known: it is not sent any more. */
  readonly isOver: () => boolean;
  /** The command may leave from now on. */
  readonly onSend: () => void;
  /** A claim has found no room. Answers whether none has for so long that the run waits no more. */
  readonly onFull: () => boolean;
  /** Its claim is there, of this process or of an earlier one. */
  readonly onClaim: () => void;
}

/**
 * Claims a command and hands it over. One that was claimed by a process before this one, and has no result, is handed
 * over again while its host still knows the id, which it runs once (proto, InvokeTool): a command that never left is not
 * lost so.
 */
export async function launch(deps: LaunchDeps, launching: Launching): Promise<Launch> {
  const { mayBeSent } = launching;
  // A claim alone sends nothing: it waits for the bus as long as the run does (ADR 0070).
  const claimed = await untilDone(deps, launching, {
    using: atOnce,
    call: () => claim(deps, launching),
    busMs: Number.POSITIVE_INFINITY,
    // The claim tells whether an earlier process may have sent it.
    evenStopped: mayBeSent,
  });
  if (claimed.kind === 'left') return claimed;
  if (claimed.kind !== 'done') return mayBeSent ? unsure : notLeft(claimed);
  if ('outcome' in claimed.value) return failed(claimed.value);
  return send(deps, launching, claimed.value);
}

/** The way is free for a command. */
interface Permit {
  /** No process before this one may have sent it. */
  readonly isFirst: boolean;
  /** Until when its host may take it; undefined: for the life of a token from the first try on. */
  readonly goodUntil?: number;
}

async function send(deps: LaunchDeps, launching: Launching, { isFirst, goodUntil }: Permit): Promise<Launch> {
  let until = goodUntil;
  const { command, stop } = launching;
  const seal = (args: Args): Promise<SealedCommand> => {
    until ??= deps.clock.now() + command.deadlineSecs * 1_000 + fleetRunLimits.tokenGraceMs;
    return deps.sender.seal({ ...command, args }, until);
  };
  const call = (sealed: SealedCommand): Promise<void> => {
    launching.onSend();
    return deps.sender.send(command, sealed);
  };
  // A host runs a command id once, and a bus that is slow says nothing of the host.
  const busMs = Math.max(command.deadlineSecs * 1_000, fleetRunLimits.unreachableMs);
  const sent = await untilDone(deps, launching, {
    using: (task) => command.useArgs(seal, task, stop),
    call,
    busMs,
    evenStopped: false,
  });
  if (sent.kind === 'left') return sent;
  if (sent.kind === 'done') return { kind: 'sent' };
  // A command that an earlier process has sent may run although its host cannot be reached now.
  return sent.isOpen || !isFirst ? unsure : notLeft(sent);
}

/** A result where the command cannot be claimed, or may have run and may not leave again. */
async function claim(deps: LaunchDeps, launching: Launching): Promise<Permit | EdgeOutcome> {
  const until = launching.mayBeSent ? await launching.newUntil?.() : undefined;
  try {
    const isFirst = await deps.sender.claim(launching.command);
    launching.onClaim();
    if (!isFirst && launching.mayBeSent) return await permitAgain(deps, launching);
    return until === undefined ? { isFirst: true } : permitUntil(deps, until, claimsLost);
  } catch (error) {
    const refusal = refusalOf(error, launching);
    if (refusal === undefined) throw error;
    // Where the claims of earlier processes are lost, one of them may have sent it.
    return until === undefined ? refusal : outcomeUnknown(claimsLost);
  }
}

/** A claim that finds no room was not made before, and is worth another try for a while. */
function refusalOf(error: unknown, { onFull }: Launching): EdgeOutcome | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'limit_exceeded') return err(error.reason, error.message);
  return isBusFull(error) && onFull() ? err('BucketFull', error.message) : undefined;
}

/** For a command that an earlier process claimed, and may have sent. */
async function permitAgain(deps: LaunchDeps, { command, isStopped }: Launching): Promise<Permit | EdgeOutcome> {
  const record = await deps.sender.recordOf(command);
  const goodUntil = Date.parse(record?.deadline ?? '') + fleetRunLimits.tokenGraceMs;
  // Nothing leaves where the run has stopped, and its host ends as such a run says (ADR 0101).
  if (isStopped()) return { isFirst: false };
  if (record?.ended === true) return outcomeUnknown(resultLost);
  return permitUntil(deps, goodUntil, 'the command may have been sent, too long ago to send it again');
}

const claimsLost =
  'the event bus has lost which commands were sent: this one may have been, too long ago to send it again';

/** A host forgets ids some minutes after their tokens. The first token ended no earlier than this time. */
const permitUntil = ({ clock }: LaunchDeps, goodUntil: number, orElse: string): Permit | EdgeOutcome =>
  clock.now() < goodUntil ? { isFirst: false, goodUntil } : outcomeUnknown(orElse);

type Tried<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'left' } | NotDone;

/** `isOpen`: a try may have got through all the same. */
type NotDone =
  | { readonly kind: 'ended'; readonly result: EdgeOutcome; readonly isOpen: boolean }
  | { readonly kind: 'stopped'; readonly isOpen: boolean };

/** The tries before: when the first began, and whether one may have got through. */
interface Before {
  begunAt?: number;
  /** Since when no try can begin, for want of what the call uses. */
  wantsSince?: number;
  isOpen: boolean;
}

interface Step<I, T> {
  /** Does a task with what the call uses, for which it may have to wait. */
  readonly using: <R>(task: (input: I) => Promise<R>) => Promise<R>;
  readonly call: (input: I) => Promise<T>;
  /** How long it waits for a bus that does not answer. */
  readonly busMs: number;
  /** Whether it is tried once in any case, also where the run has stopped. */
  readonly evenStopped: boolean;
}

const atOnce = <R>(task: (input: undefined) => Promise<R>): Promise<R> => task(undefined);

/** Tries again while the bus or the host is away, each for its time. */
async function untilDone<I, T>(deps: LaunchDeps, launching: Launching, step: Step<I, T>): Promise<Tried<T>> {
  const { stop, isStopped } = launching;
  const before: Before = { isOpen: false };
  while (!stop.aborted) {
    const tried = await tryOnce(deps, launching, before, step);
    if (tried !== undefined) return tried;
    if (isStopped()) return { kind: 'stopped', isOpen: before.isOpen };
    await deps.clock.sleep(fleetRunLimits.retryMs, stop);
  }
  return { kind: 'left' };
}

/** Undefined: it is worth another try. The run may stop during each wait, and is looked at behind each of them. */
async function tryOnce<I, T>(
  { clock }: LaunchDeps,
  launching: Launching,
  before: Before,
  step: Step<I, T>,
): Promise<Tried<T> | undefined> {
  const halted = () => haltOf(launching, before, step);
  using place = await launching.turn().catch(() => undefined);
  const halt = halted();
  if (halt !== undefined) return halt;
  if (place === undefined) return { kind: 'ended', result: noTurn, isOpen: before.isOpen };
  try {
    return await step.using(async (input) => halted() ?? (await tryNow(clock, before, step, input)));
  } catch (error) {
    if (launching.stop.aborted) return { kind: 'left' };
    // Nothing was tried: it lacks what it uses, which says nothing of the host.
    before.wantsSince ??= clock.steadyMs();
    const verdict = verdictOf(error, clock.steadyMs() - before.wantsSince, step.busMs);
    return triedBy(before, { ...verdict, isOpen: false });
  }
}

/** Why nothing is tried any more; undefined: it may be. */
function haltOf(
  { stop, isOver, isStopped }: Launching,
  { isOpen }: Before,
  { evenStopped }: Pick<Step<never, unknown>, 'evenStopped'>,
): Exclude<Tried<never>, { kind: 'done' | 'ended' }> | undefined {
  if (stop.aborted || isOver()) return { kind: 'left' };
  return !evenStopped && isStopped() ? { kind: 'stopped', isOpen } : undefined;
}

/** The waits before it take nothing of the command's time. Never rejects. */
async function tryNow<I, T>(
  clock: Clock,
  before: Before,
  { call, busMs }: Step<I, T>,
  input: I,
): Promise<Tried<T> | undefined> {
  delete before.wantsSince;
  const begunAt = (before.begunAt ??= clock.steadyMs());
  try {
    return { kind: 'done', value: await call(input) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'lost_leadership') return { kind: 'left' };
    return triedBy(before, verdictOf(error, clock.steadyMs() - begunAt, busMs));
  }
}

function triedBy(before: Before, { result, isOpen }: Verdict): Exclude<Tried<never>, { kind: 'done' }> | undefined {
  before.isOpen ||= isOpen;
  return result === undefined ? undefined : { kind: 'ended', result, isOpen: before.isOpen };
}

interface Verdict {
  /** Undefined: it is worth another try. */
  readonly result: EdgeOutcome | undefined;
  readonly isOpen: boolean;
}

function verdictOf(error: unknown, passedMs: number, busMs: number): Verdict {
  if (!(error instanceof AppError)) return { result: err('InternalError', messageOf(error)), isOpen: true };
  const { code, reason, message } = error;
  const isWorthATry = code === 'unavailable' || code === 'timeout';
  if (!isWorthATry) return { result: err(reason, message), isOpen: false };
  const patienceMs = isEdgeUnavailable(error) ? fleetRunLimits.unreachableMs : busMs;
  const result = passedMs < patienceMs ? undefined : err(edgeUnavailableReason, message);
  // Else the relay may have handed it on; a host runs a command id once.
  return { result, isOpen: !isUnsent(error) };
}

/** spec 2 §2.4: the host never ran it, so there is no exit code of its own. */
const err = (code: string, message: string) => ({ outcome: 'err', code, message, exit_code: 0 }) as const;
const noTurn = err(edgeUnavailableReason, 'the command waited for its turn for too long');
const unsure: Launch = { kind: 'unsure' };
const failed = (result: EdgeOutcome): Launch => ({ kind: 'failed', result });
const notLeft = (why: NotDone): Launch => (why.kind === 'ended' ? failed(why.result) : { kind: 'stopped' });
