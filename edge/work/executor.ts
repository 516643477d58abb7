import { type Clock, resultWithin } from '../../lib/clock.ts';
import { type CommandClaims, edgeLimits, millisecondsOf } from '../../lib/edge/index.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import type { Logger } from '../../lib/logger.ts';
import { EdgeResult, type InvokeTool } from '../../proto/generated/windlass/node/v1/node.ts';
import type { LocalConfig } from '../config/schema.ts';
import { isCommandId } from '../journal/entries.ts';
import type { Journal } from '../journal/journal.ts';
import { daemonLimits } from '../limits.ts';
import { type HostCall, type HostTools, secondsOf } from '../tools/host-tools.ts';
import { type ProofFacts, proveCommand } from './prove-command.ts';
import { cancelledResult, type CommandProblem, errResult, resultOf, timedOutResult, unknownResult } from './results.ts';

/** A command waits for its turn until its deadline; no deadline is longer than a day. */
const longestWaitMs = 86_400_000;

/** Where results and progress go. */
export interface ResultSink {
  /** The journal has the result of a command. */
  result(commandId: string): void;
  output(commandId: string, stream: 'stdout' | 'stderr', chunk: Buffer): void;
  started(commandId: string): void;
  /** Result of a command that the journal cannot take: nothing was run, and nothing is kept. */
  unkept(commandId: string, result: EdgeResult): void;
}

interface ExecutorDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly journal: Journal;
  readonly tools: HostTools;
  readonly config: () => LocalConfig;
  readonly proof: Omit<ProofFacts, 'now'>;
  readonly outbox: ResultSink;
  /** Commands that run at a time. */
  readonly concurrent?: number;
}

/** Judges, runs and breaks off commands. */
export interface Executor {
  /** Gives commands that a former process left without a result one (requirements AMB-200). */
  recover(): Promise<void>;
  /** Resolves when the command is judged, and where it runs, when the journal has it; not when it has ended. */
  invoke(invoke: InvokeTool): Promise<void>;
  cancel(commandId: string, reason: string): void;
  /** Takes no new commands from now on. Resolves when none is under way. */
  drain(): Promise<void>;
  /** The same, but breaks off what is under way after the grace. */
  stop(graceMs: number, reason: string): Promise<void>;
  /** Commands under way, those that wait for their turn included. */
  readonly underWay: number;
  readonly isDraining: boolean;
}

/** Why a command under way is broken off. */
interface Break {
  readonly kind: 'cancel' | 'deadline';
  readonly reason: string;
}

interface Running {
  readonly stop: AbortController;
  broken?: Break;
  ended: Promise<void>;
}

export const createExecutor = (deps: ExecutorDeps): Executor => new HostExecutor(deps);

class HostExecutor implements Executor {
  readonly #deps: ExecutorDeps;
  readonly #running = new Map<string, Running>();
  readonly #turns: FairPool;
  /** Results of commands that the journal could not take: one that comes again is not run after all. */
  readonly #unkept = new Map<string, EdgeResult>();
  #isDraining = false;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    this.#turns = createFairPool({
      size: deps.concurrent ?? daemonLimits.concurrent,
      waiting: daemonLimits.waiting,
      waitMs: longestWaitMs,
      clock: deps.clock,
    });
  }

  get underWay(): number {
    return this.#running.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  async recover(): Promise<void> {
    for (const id of this.#deps.journal.begun()) await keepResult(this.#deps, id, unknownResult);
  }

  async invoke(invoke: InvokeTool): Promise<void> {
    const { journal, outbox, logger } = this.#deps;
    const { commandId } = invoke;
    if (!isCommandId(commandId)) return logger.warn({}, 'command without a UUID ignored');
    const state = journal.stateOf(commandId);
    if (state === 'result') outbox.result(commandId);
    if (state !== undefined) return;
    const refused = this.#unkept.get(commandId);
    if (refused !== undefined) return outbox.unkept(commandId, refused);
    const judged = await judge(this.#deps, invoke, this.#isDraining);
    if ('code' in judged)
      return this.#noteUnkept(commandId, await keepRefusal(this.#deps, commandId, errResult(judged)));
    try {
      const { iat, exp } = judged.claims;
      await journal.begin(commandId, { ends: exp * 1_000, lifeMs: (exp - iat) * 1_000 });
    } catch (error) {
      return this.#noteUnkept(commandId, unkeptResult(this.#deps, commandId, error));
    }
    this.#start(commandId, judged.call);
  }

  #noteUnkept(commandId: string, result: EdgeResult | undefined): void {
    if (result === undefined) return;
    this.#unkept.set(commandId, result);
    const [oldest = ''] = this.#unkept.keys();
    if (this.#unkept.size > daemonLimits.unkept) this.#unkept.delete(oldest);
    this.#deps.outbox.unkept(commandId, result);
  }

  #start(commandId: string, call: HostCall): void {
    const deps = this.#deps;
    const stop = new AbortController();
    const entry: Running = { stop, ended: Promise.resolve() };
    this.#running.set(commandId, entry);
    entry.ended = this.#turns
      // Each command has an account of its own, so that they take turns in their order.
      .run({ tenant: commandId, signal: stop.signal }, () => runCall(deps, { commandId, call, signal: stop.signal }))
      .catch((error: unknown) => errResult(problemOf(error)))
      .then((result) => keepResult(deps, commandId, brokenResult(entry.broken, call) ?? result))
      .catch((err: unknown) => deps.logger.error({ err, commandId }, 'result not kept'))
      .finally(() => {
        this.#running.delete(commandId);
        stop.abort();
      });
    void deps.clock
      .sleep(call.seconds * 1_000, stop.signal)
      .then(() => breakOff(entry, { kind: 'deadline', reason: '' }));
  }

  cancel(commandId: string, reason: string): void {
    const entry = this.#running.get(commandId);
    if (entry !== undefined) breakOff(entry, { kind: 'cancel', reason });
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async stop(graceMs: number, reason: string): Promise<void> {
    const drained = this.drain();
    await resultWithin(this.#deps.clock, graceMs, drained);
    for (const entry of this.#running.values()) breakOff(entry, { kind: 'cancel', reason });
    await drained;
  }
}

/** The first reason counts. */
function breakOff(entry: Running, why: Break): void {
  if (entry.stop.signal.aborted) return;
  entry.broken = why;
  entry.stop.abort();
}

/** A command that was broken off did not end by itself, whatever it answers to the signal. */
function brokenResult(broken: Break | undefined, { seconds }: HostCall): EdgeResult | undefined {
  if (broken === undefined) return undefined;
  return broken.kind === 'deadline' ? timedOutResult(seconds * 1_000) : cancelledResult(broken.reason);
}

interface Judged {
  readonly claims: CommandClaims;
  readonly call: HostCall;
}

/** In this order: draining, proof, security context, tool with its policy and arguments. */
async function judge(deps: ExecutorDeps, invoke: InvokeTool, isDraining: boolean): Promise<Judged | CommandProblem> {
  if (isDraining) return { code: 'Draining', message: 'this host takes no new commands; it drains or shuts down' };
  const proven = await proveCommand(invoke, { ...deps.proof, now: deps.clock.now() });
  if ('code' in proven) return proven;
  const config = deps.config();
  const { claims, args } = proven;
  const contexts = config.security_contexts ?? {};
  const context = Object.hasOwn(contexts, claims.context) ? contexts[claims.context] : undefined;
  if (context === undefined)
    return {
      code: 'SecurityContextUnknown',
      message: `this host has no security context ${JSON.stringify(claims.context.slice(0, 253))}; add it under security_contexts of its configuration`,
    };
  const call: HostCall = {
    tenant: claims.tid,
    author: claims.author,
    tool: claims.tool,
    args,
    contextName: claims.context,
    context,
    seconds: secondsOf(askedSeconds(claims, invoke), config),
  };
  return deps.tools.problem(call) ?? { claims, call };
}

/** The token's deadline is the author's; the message may ask for less, never for more. */
function askedSeconds({ deadlineSeconds }: CommandClaims, { deadline }: InvokeTool): number {
  const ms = millisecondsOf(deadline);
  return ms === undefined || ms === 0 ? deadlineSeconds : Math.min(deadlineSeconds, ms / 1_000);
}

interface StartedCall {
  readonly commandId: string;
  readonly call: HostCall;
  readonly signal: AbortSignal;
}

async function runCall({ tools, outbox }: ExecutorDeps, { commandId, call, signal }: StartedCall): Promise<EdgeResult> {
  const started = performance.now();
  let left: number = daemonLimits.progressBytes;
  outbox.started(commandId);
  const given = await tools.run(call, {
    signal,
    onOutput: (stream, chunk) => {
      const part = chunk.subarray(0, left);
      left -= part.length;
      for (let at = 0; at < part.length; at += daemonLimits.chunkBytes)
        outbox.output(commandId, stream, part.subarray(at, at + daemonLimits.chunkBytes));
    },
  });
  return resultOf(call.tool, given, performance.now() - started);
}

async function keepResult(
  { journal, outbox, logger }: ExecutorDeps,
  commandId: string,
  result: EdgeResult,
): Promise<void> {
  const bytes = EdgeResult.encode(result).finish();
  if (bytes.byteLength > edgeLimits.messageBytes / 2) throw new Error('a result is larger than a message');
  if (!(await journal.end(commandId, bytes)))
    logger.error({ commandId }, 'result held in memory, the disk does not take it');
  outbox.result(commandId);
}

/** Gives the result back where the journal does not take it. */
async function keepRefusal(
  { journal, outbox, logger }: ExecutorDeps,
  commandId: string,
  result: EdgeResult,
): Promise<EdgeResult | undefined> {
  try {
    await journal.refuse(commandId, EdgeResult.encode(result).finish());
  } catch (err) {
    logger.error({ err, commandId }, 'refusal not kept');
    return result;
  }
  outbox.result(commandId);
  return undefined;
}

/** Result of a command that the journal does not take; undefined where the id came twice at once: the first one runs. */
function unkeptResult({ logger }: ExecutorDeps, commandId: string, error: unknown): EdgeResult | undefined {
  if (error instanceof AppError && error.code === 'already_exists') return undefined;
  logger.error({ err: error, commandId }, 'command not kept');
  return errResult(error instanceof AppError ? problemOf(error) : journalProblem);
}

const journalProblem: CommandProblem = {
  code: 'JournalUnavailable',
  message: 'this host cannot write its journal, so it runs nothing',
};

const problemOf = (error: unknown): CommandProblem =>
  error instanceof AppError
    ? { code: error.reason === 'Error' ? 'ToolFailed' : error.reason, message: error.message }
    : { code: 'ToolFailed', message: `the tool failed: ${messageOf(error)}` };
