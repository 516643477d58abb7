import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import type { Responder } from '../../../lib/bus/request/requester.ts';
import type { KubeObject } from '../../../lib/kube/index.ts';

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
/** Executions of one part: their ids are a message of 39 KiB. */
export const askedAtOnce = 1_000;
/** How long the others may take to answer. */
const answerMs = 500;

/** Objects that are looked at a part at a time. */
interface PartsByNamespace<T> {
  /** The next part: of each namespace as many as of another, behind those of the part before, from the first again at the end. */
  next(objects: readonly T[]): readonly T[];
}

/** At most `most` objects a part. */
export function createPartsByNamespace<T extends KubeObject>(most: number): PartsByNamespace<T> {
  /** Place of the next object of each namespace. */
  let places = new Map<string, number>();
  return {
    next(objects) {
      const groups = [...Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '')];
      const next = new Map<string, number>();
      const part: T[] = [];
      // The smallest first: what they leave of their parts is for the others.
      groups.sort(([, a], [, b]) => a.length - b.length);
      for (const [index, [namespace, group]] of groups.entries()) {
        const count = Math.min(group.length, Math.ceil((most - part.length) / (groups.length - index)));
        const first = (places.get(namespace) ?? 0) % group.length;
        part.push(...group.slice(first, first + count), ...group.slice(0, Math.max(0, first + count - group.length)));
        next.set(namespace, first + count);
      }
      places = next;
      return part;
    },
  };
}

export function createLeftConversations({ bus, isDriven }: LeftDeps): LeftConversations {
  const parts = createPartsByNamespace<AgentExecution>(askedAtOnce);
  return {
    serve: () =>
      bus.serve(address, async ({ body }) => JSON.stringify(idsOf(body).filter(isDriven)), { replicas: 'every' }),
    async among(executions) {
      const asked = parts.next(executions);
      if (asked.length === 0) return [];
      const ids = JSON.stringify(asked.map(({ metadata }) => metadata.uid ?? ''));
      const answers = await bus.requestAll(address, ids, { timeoutMs: answerMs });
      const driven = new Set(answers.flatMap(idsOf));
      return asked.filter(({ metadata }) => !driven.has(metadata.uid ?? ''));
    },
  };
}

const idsOf = (body: Uint8Array): string[] => JSON.parse(Buffer.from(body).toString('utf8')) as string[];
