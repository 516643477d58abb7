import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import type { Responder } from '../../lib/bus/request/requester.ts';
import { createTurnsByNamespace } from './turns-by-namespace.ts';

/** Conversations that the replicas do not drive, found by one question to all of them, whatever their number. */
export interface LeftConversations {
  /** Answers the questions of other replicas until it is closed. @throws AppError `unavailable` where no event bus is configured. */
  serve(): Responder;
  /**
   * Those of the next turn, among executions that need driving, that no replica says to drive. A replica that does not hear
   * the question drives nothing, as far as this knows: a driver asks for each one alone before it drives it.
   */
  among(executions: readonly AgentExecution[]): Promise<readonly AgentExecution[]>;
}

interface LeftDeps {
  readonly bus: Pick<EventBus, 'requestAll' | 'serve'>;
  /** Whether this replica drives the conversation of an execution. */
  readonly isDriven: (uid: string) => boolean;
}

const address = { service: 'agent.conversations' } as const;
/** Executions of one turn: their ids are a message of 39 KiB. */
export const askedAtOnce = 1_000;
/** How long the others may take to answer. */
const answerMs = 500;

export function createLeftConversations({ bus, isDriven }: LeftDeps): LeftConversations {
  const turns = createTurnsByNamespace<AgentExecution>(askedAtOnce);
  return {
    serve: () =>
      bus.serve(address, async ({ body }) => JSON.stringify(idsOf(body).filter(isDriven)), { replicas: 'every' }),
    async among(executions) {
      const asked = turns.next(executions);
      if (asked.length === 0) return [];
      const ids = JSON.stringify(asked.map(({ metadata }) => metadata.uid ?? ''));
      const answers = await bus.requestAll(address, ids, { timeoutMs: answerMs });
      const driven = new Set(answers.flatMap(idsOf));
      return asked.filter(({ metadata }) => !driven.has(metadata.uid ?? ''));
    },
  };
}

const idsOf = (body: Uint8Array): string[] => JSON.parse(Buffer.from(body).toString('utf8')) as string[];
