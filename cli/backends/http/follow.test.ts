import { describe, expect, it } from 'vitest';
import {
  type Execution,
  type ExecutionEvent,
  type ServerEvent,
  WindlassApiError,
  WindlassConnectionError,
} from '../../../client/index.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { systemClock } from '../../../lib/clock.ts';
import { wholeExecutionOf } from './execution-object.ts';
import { type FollowDeps, followExecution } from './follow.ts';

const execution_id = 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22';
const at = '2026-01-02T03:04:05.000Z';

const present: Execution = {
  execution_id,
  name: 'demo-1',
  workflow_id: execution_id,
  workflow: 'demo',
  version: '1.0.0',
  status: 'running',
  reason: null,
  message: null,
  current_state: 'build',
  transitions: 0,
  created_at: at,
  started_at: at,
  completed_at: null,
  archived: false,
  history: [],
  current: null,
  input: {},
  intent: null,
  blackboard: {},
  final_output: null,
};

const visitOf = (state: string, kind: 'ContainerRun' | 'Human'): NonNullable<Execution['current']> => ({
  state,
  kind,
  visit: 1,
  started_at: at,
  deadline: null,
  attempt: 1,
  retry_at: null,
  failure: null,
  waiting: null,
  prompt: null,
  answers: [],
  signals_refused: 0,
});

const past: Execution['history'][number] = {
  state: 'build',
  kind: 'ContainerRun',
  visit: 1,
  status: 'success',
  reason: null,
  message: null,
  attempts: 1,
  exit_code: 0,
  steps: null,
  started_at: at,
  completed_at: at,
  rule: 0,
  target: 'ask',
  decision: null,
};

const pending: Execution = { ...present, current_state: null, started_at: null, status: 'pending' };
const building: Execution = { ...present, current: visitOf('build', 'ContainerRun') };
const retrying: Execution = { ...present, current: { ...visitOf('build', 'ContainerRun'), attempt: 2 } };
const asking: Execution = { ...present, status: 'waiting', history: [past], current: visitOf('ask', 'Human') };
const over: Execution = { ...present, status: 'cancelled', history: [past], completed_at: at, current: asking.current };

/** The execution that the server has, and the errors of its next answers. */
interface Server {
  execution: Execution;
  readonly failures: unknown[];
}

const refusal = (status: number): WindlassApiError => new WindlassApiError(status, { error: 'refused', message: 'no' });

/** A server whose stream sends an event at each `ring`. */
function served(first: Execution, failures: unknown[] = []) {
  const server: Server = { execution: first, failures };
  const bells: (() => void)[] = [];
  let [reads, open] = [0, 0];
  async function* stream(signal: AbortSignal): AsyncGenerator<ServerEvent<ExecutionEvent>> {
    open += 1;
    try {
      for (;;) {
        await new Promise<void>((resolve, reject) => {
          bells.push(resolve);
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
        yield { id: '1', event: 'message', data: { workflow_execution_deleted: { execution_id } } };
      }
    } finally {
      open -= 1;
    }
  }
  const client: FollowDeps['client'] = {
    streamExecution: (_request, options) => stream(options?.signal ?? new AbortController().signal),
    readExecution: async () => {
      reads += 1;
      const failure = server.failures.shift();
      if (failure !== undefined) throw failure;
      return server.execution;
    },
  };
  const ring = (): void => bells.splice(0).forEach((bell) => bell());
  return { server, ring, deps: { client, clock: systemClock }, reads: () => reads, isOpen: () => open > 0 };
}

const stateOf = ({ status }: WorkflowExecution): string =>
  `${status?.phase} ${status?.current?.state ?? status?.interrupted?.state ?? '-'}`;
const never = new AbortController().signal;
const unread = wholeExecutionOf(present);

/** The states that are shown where the server changes after each of them. */
async function shown(world: ReturnType<typeof served>, changes: readonly (Execution | Error)[]): Promise<string[]> {
  const left = [...changes];
  const seen: string[] = [];
  for await (const execution of followExecution(world.deps, unread, never)) {
    seen.push(stateOf(execution));
    while (left[0] instanceof Error) world.server.failures.push(left.shift());
    world.server.execution = (left.shift() as Execution | undefined) ?? world.server.execution;
    setImmediate(world.ring);
  }
  return seen;
}

describe('following an execution through the API', () => {
  it('shows each state that is read after an event, and ends with the end', async () => {
    const seen = await shown(served(pending), [building, asking, over]);
    expect(seen).toEqual(['undefined -', 'running build', 'waiting ask', 'cancelled ask']);
  });

  it('shows what no event says, such as that a pod waits', async () => {
    const world = served(building);
    const waiting = { reason: 'Unschedulable', message: 'no room', since: at };
    const seen: (string | undefined)[] = [];
    for await (const { status } of followExecution(world.deps, unread, never)) {
      seen.push(status?.current?.waiting?.message);
      if (seen.length === 2) break;
      world.server.execution = { ...building, current: { ...visitOf('build', 'ContainerRun'), waiting } };
    }
    expect(seen).toEqual([undefined, 'no room']);
  });

  it.each([
    ['a visit less', asking, building],
    ['an attempt less', retrying, building],
    ['a state not entered', building, present],
    ['a question not asked', asking, { ...asking, status: 'running' } as const],
  ])('does not show %s, which a replica that lags behind says', async (_name, first, older) => {
    const world = served(first);
    const seen: string[] = [];
    const changes = [older, over];
    const poll = setInterval(() => {
      world.server.execution = changes.shift() ?? over;
      world.ring();
    }, 50);
    for await (const execution of followExecution(world.deps, unread, never)) seen.push(stateOf(execution));
    clearInterval(poll);
    expect(seen).toEqual([stateOf(wholeExecutionOf(first)), 'cancelled ask']);
  });

  it.each([
    ['a lost connection', new WindlassConnectionError('gone')],
    ['a server that is busy', refusal(429)],
    ['a server that fails', refusal(503)],
  ])('survives %s', async (_name, failure) => {
    expect(await shown(served(building), [failure, over])).toEqual(['running build', 'cancelled ask']);
  });

  it('throws what the server refuses', async () => {
    await expect(shown(served(building, [refusal(403)]), [])).rejects.toMatchObject({ status: 403 });
  });

  it('says that it was deleted', async () => {
    const deletion = shown(served(building), [refusal(404), building]);
    await expect(deletion).rejects.toMatchObject({ reason: 'Deleted', message: 'execution demo-1 was deleted' });
  });

  it('reads one that has ended once', async () => {
    const world = served(over);
    expect(await shown(world, [])).toEqual(['cancelled ask']);
    expect(world.reads()).toBe(1);
  });

  it('ends quietly when it is stopped, and closes its stream when its reader leaves', async () => {
    const stop = new AbortController();
    const world = served(building);
    const seen: string[] = [];
    for await (const execution of followExecution(world.deps, unread, stop.signal)) {
      seen.push(stateOf(execution));
      stop.abort();
    }
    expect(seen).toEqual(['running build']);
    for await (const _ of followExecution(world.deps, unread, never)) break;
    await expect.poll(world.isOpen).toBe(false);
  });
});
