import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import type { Responder } from '../../../lib/bus/request/requester.ts';
import type { KubeObject } from '../../../lib/kube/index.ts';
import { silentLooks } from './driver-address.ts';

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
  /** The next part, of at most `most` objects: of each namespace as many as of another, behind those of the part before, from the first again at the end. */
  next(objects: readonly T[], most: number): readonly T[];
}

export function createPartsByNamespace<T extends KubeObject>(): PartsByNamespace<T> {
  /** Place of the next object of each namespace. */
  let places = new Map<string, number>();
  return {
    next(objects, most) {
      if (most <= 0) return [];
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
  const parts = createPartsByNamespace<AgentExecution>();
  /** Those that no replica said to drive a moment ago, with the looks at each that are due in the next scans. */
  let again = new Map<string, number>();
  const partOf = (executions: readonly AgentExecution[]): readonly AgentExecution[] => {
    const first = executions.filter(({ metadata }) => again.has(metadata.uid ?? '')).slice(0, askedAtOnce);
    return [...new Set([...first, ...parts.next(executions, askedAtOnce - first.length)])];
  };
  return {
    serve: () =>
      bus.serve(address, async ({ body }) => JSON.stringify(idsOf(body).filter(isDriven)), { replicas: 'every' }),
    async among(executions) {
      const asked = partOf(executions);
      if (asked.length === 0) return [];
      const ids = JSON.stringify(asked.map(({ metadata }) => metadata.uid ?? ''));
      const answers = await bus.requestAll(address, ids, { timeoutMs: answerMs });
      const driven = new Set(answers.flatMap(idsOf));
      const left = asked.filter(({ metadata }) => !driven.has(metadata.uid ?? ''));
      again = looksAgain(again, left);
      return left;
    },
  };
}

/** How many more looks each has in the next scans, one behind another: a silent driver is known by its looks alone. */
function looksAgain(before: ReadonlyMap<string, number>, left: readonly AgentExecution[]): Map<string, number> {
  const uids = left.map(({ metadata }) => metadata.uid ?? '');
  const looks = uids.map((uid) => [uid, (before.get(uid) ?? silentLooks) - 1] as const);
  return new Map(looks.filter(([, more]) => more > 0));
}

const idsOf = (body: Uint8Array): string[] => JSON.parse(Buffer.from(body).toString('utf8')) as string[];
