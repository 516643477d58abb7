import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { aborted } from '../../../lib/aborted.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { type Clock, resultWithin } from '../../../lib/clock.ts';
import { fitToolContent } from '../../../lib/conversation/fit-tool-content.ts';
import { AppError } from '../../../lib/errors.ts';
import { onAbort } from '../../../lib/on-abort.ts';
import type { ToolAnswer } from '../../../lib/tools/tool.ts';
import { DeadlineSignal } from '../drivers/deadline-signal.ts';
import { isUnserved, reconnectMs } from '../drivers/driver-address.ts';

/**
 * Calls of tools that cannot be made again. Such a call continues in the process that began it where its conversation moves to
 * another replica meanwhile, and that replica writes its answer down (ADR 0121).
 */
export interface OutlivingCalls {
  /**
   * Makes a call, and resolves to its answer, which `elsewhere` of any replica finds from now on. @throws the reason of `moved`
   * where that aborts first: the call continues; what `work` throws before that.
   */
  run(callId: string, work: (signal: AbortSignal) => Promise<ToolAnswer>): Promise<ToolAnswer>;
  /** The answer of a call that another driver began; undefined where no process has it. @throws the reason of `moved` or of `signal`. */
  elsewhere(callId: string, signal: AbortSignal): Promise<ToolAnswer | undefined>;
  /** The answer of a call is written down: its process needs to keep it no longer. */
  taken(callId: string): void;
  /** The driver leaves the conversation: calls whose answers it has not written down are for the next one. */
  leave(): void;
}

interface OutlivingDeps {
  readonly bus: Pick<EventBus, 'request' | 'serve'>;
  readonly clock: Clock;
  readonly execution: AgentExecution;
  /** Aborts where the call is to end with the execution or the process. */
  readonly cancel: AbortSignal;
  /** Aborts, with Stopped, where another replica wants the conversation. */
  readonly moved: AbortSignal;
  /** Takes the end of calls that continue without their driver. */
  readonly onOutlives: (ended: Promise<void>) => void;
}

/** How long an answer is kept for the driver that writes it down: a server of NATS that is restarted is back within this. */
const keptMs = 60_000;
/** A call that is to end has so long for it. */
const deafMs = 5_000;
/** One question waits for so long at its process. */
const askMs = 20_000;
/** After a loss of the connection, a process may hear questions again later than the one that asks: looks within `reconnectMs`. */
const unheardLooks = 4;
const unheardPauseMs = reconnectMs / (unheardLooks - 1);
/** Questions to a process about a call that it has. */
const questions = { answer: 'answer', taken: 'taken' } as const;

const addressOf = ({ execution }: OutlivingDeps, callId: string) => ({
  service: 'agent.call',
  key: `${execution.metadata.uid ?? ''}/${callId}`,
});

export function createOutlivingCalls(deps: OutlivingDeps): OutlivingCalls {
  const { bus, clock, moved, execution } = deps;
  const own = new Map<string, KeptCall>();
  return {
    async run(callId, work) {
      const deadline = new DeadlineSignal(clock, execution, deps.cancel);
      const answer = work(deadline.signal).finally(() => deadline[Symbol.dispose]());
      // From its beginning: another replica may take the conversation without a word, and asks here then.
      const kept = keep(deps, { callId, answer, end: deadline.signal });
      own.set(callId, kept);
      const { promise: left, reject } = Promise.withResolvers<never>();
      const off = onAbort(moved, () => void kept.found.then(() => reject(moved.reason)));
      try {
        return await Promise.race([answer, left]);
      } finally {
        off();
      }
    },
    elsewhere: (callId, signal) => ask(deps, callId, AbortSignal.any([signal, moved])),
    taken(callId) {
      own.get(callId)?.take();
      // An answer that is not known to be taken is kept for a minute: nothing is lost with this message.
      if (!own.delete(callId))
        void bus.request(addressOf(deps, callId), questions.taken, { timeoutMs: askMs }).catch(() => undefined);
    },
    leave() {
      if (own.size > 0) deps.onOutlives(Promise.all([...own.values()].map(({ ended }) => ended)).then(() => undefined));
    },
  };
}

interface KeptCall {
  /** Resolves once replicas find it here, or it is over. */
  readonly found: Promise<void>;
  /** Resolves when nothing of it is here any more. */
  readonly ended: Promise<void>;
  /** Its answer is written down. */
  take(): void;
}

interface BegunCall {
  readonly callId: string;
  readonly answer: Promise<ToolAnswer>;
  /** Aborts where the call is to end. */
  readonly end: AbortSignal;
}

/** Answers for the call until its answer is taken, or it does not heed its end. */
function keep(deps: OutlivingDeps, { callId, answer, end }: BegunCall): KeptCall {
  const { bus, clock, cancel } = deps;
  const taken = Promise.withResolvers<void>();
  const responder = bus.serve(addressOf(deps, callId), async ({ body, signal }) => {
    if (Buffer.from(body).toString() === questions.taken) {
      taken.resolve();
      return '';
    }
    await Promise.race([answer, aborted(signal)]);
    signal.throwIfAborted();
    return written(await answer);
  });
  const isTaken = Promise.race([taken.promise, aborted(cancel)]);
  const isGivenUp = aborted(end).then(() => clock.sleep(deafMs));
  const isOver = answer.then(
    () => resultWithin(clock, keptMs, isTaken),
    () => undefined,
  );
  const over = Promise.race([isOver, isGivenUp]);
  return {
    found: Promise.race([responder.ready, over]).then(() => undefined),
    ended: over.then(() => responder.close(0)),
    take: taken.resolve,
  };
}

async function ask(deps: OutlivingDeps, callId: string, signal: AbortSignal): Promise<ToolAnswer | undefined> {
  for (let misses = 0; misses < unheardLooks; ) {
    signal.throwIfAborted();
    try {
      const options = { timeoutMs: askMs, signal };
      return readAnswer(await deps.bus.request(addressOf(deps, callId), questions.answer, options));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      if (isUnserved(error)) misses += 1;
      else if (!isAskedAgain.has(error.reason)) return undefined;
      else misses = 0;
      await deps.clock.sleep(unheardPauseMs, signal);
    }
  }
  return undefined;
}

/** Errors behind which the call may go on. */
const isAskedAgain: ReadonlySet<string> = new Set(['RequestTimeout', 'EventBusUnavailable']);

/** As the log keeps it, so that it fits a message: the content of an answer has at most as many bytes as a message. */
const written = ({ content, isError }: ToolAnswer): string => (isError ? '!' : '=') + fitToolContent(content);

function readAnswer(body: Uint8Array): ToolAnswer {
  const text = Buffer.from(body).toString();
  return { content: text.slice(1), isError: text.startsWith('!') };
}
