import { describe, expect, it } from 'vitest';
import type { Execution, ExecutionEvent, ServerEvent } from '../../../client/index.ts';
import { WindlassConnectionError } from '../../../client/index.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { systemClock } from '../../../lib/clock.ts';
import { wholeExecutionOf } from './execution-object.ts';
import { catchUp, type FollowDeps, followTold, type Told } from './follow.ts';

const execution_id = 'a8a5f0c2-3f0b-4a52-8f5d-7f3b6f0b1c22';
const at = '2026-01-02T03:04:05.000Z';
const visit = { execution_id, visit: 1 };

const summary = (changes: Partial<Execution> = {}): Execution => ({
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
  input: {},
  intent: null,
  blackboard: {},
  final_output: null,
  ...changes,
});

const events = {
  start: {
    workflow_execution_started: {
      execution_id,
      workflow_id: execution_id,
      workflow: 'demo',
      version: '1.0.0',
      started_at: at,
    },
  },
  build: { state_started: { ...visit, state: 'build', kind: 'ContainerRun', started_at: at } },
  built: {
    state_completed: { ...visit, state: 'build', status: 'success', exit_code: 0, target: 'ask', completed_at: at },
  },
  ask: { state_started: { ...visit, state: 'ask', kind: 'Human', started_at: at } },
  asked: {
    human_approval_requested: {
      ...visit,
      state: 'ask',
      request_id: execution_id,
      requested_at: at,
      prompt: 'Ship it?',
    },
  },
  end: { workflow_execution_cancelled: { execution_id, by: 'kim', transitions: 1, cancelled_at: at } },
  deleted: { workflow_execution_deleted: { execution_id } },
} as const satisfies Record<string, ExecutionEvent>;
type Name = keyof typeof events;

/** What a server sends: events, pauses in milliseconds, a failure. It then says no more. */
type Script = readonly (Name | number | Error)[];

function scripted(script: Script, reads: readonly Execution[] = []) {
  const left = [...reads];
  const asked: (string | undefined)[] = [];
  let open = 0;
  async function* stream(
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<ServerEvent<ExecutionEvent>> {
    asked.push(lastEventId);
    open++;
    try {
      for (const step of script) {
        if (step instanceof Error) throw step;
        if (typeof step === 'number') await systemClock.sleep(step, signal);
        else yield { id: step, event: 'message', data: events[step] };
      }
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    } finally {
      open--;
    }
  }
  const client: FollowDeps['client'] = {
    streamExecution: ({ lastEventId }, options) => stream(lastEventId, options?.signal ?? new AbortController().signal),
    readExecution: async () => left.shift() ?? summary({ status: 'cancelled', reason: 'Cancelled', completed_at: at }),
  };
  return { deps: { client, clock: systemClock }, asked, isOpen: () => open > 0 };
}

const unread = (found = summary()): Told => ({
  execution: { ...wholeExecutionOf(found), status: undefined },
  lastEventId: undefined,
});
const stateOf = ({ status }: WorkflowExecution): string => `${status?.phase} ${status?.current?.state ?? '-'}`;
const never = new AbortController().signal;

async function states(deps: FollowDeps, signal = never, begin = unread()): Promise<string[]> {
  const seen: string[] = [];
  for await (const { execution } of followTold(deps, begin, signal)) seen.push(stateOf(execution));
  return seen;
}

describe('catching up with what a server has said of an execution', () => {
  it('reads events up to there and no further, and lets go of the stream', async () => {
    const { deps, isOpen } = scripted(['start', 'build', 'built', 'ask', 'asked']);
    const found = summary({ status: 'waiting', current_state: 'ask', transitions: 1 });
    const told = await catchUp(deps, unread(found), found);
    expect(told.lastEventId).toBe('asked');
    expect(told.execution.status).toMatchObject({
      phase: 'waiting',
      current: { prompt: 'Ship it?' },
      history: [{ state: 'build' }],
    });
    await systemClock.sleep(1);
    expect(isOpen()).toBe(false);
  });

  it('waits for a replica that has seen less', async () => {
    const { deps } = scripted(['start', 30, 'build', 30, 'built', 'ask']);
    const told = await catchUp(deps, unread(), summary({ current_state: 'ask', transitions: 1 }));
    expect(stateOf(told.execution)).toBe('running ask');
  });

  it('takes what a replica has seen more', async () => {
    const { deps } = scripted(['start', 'build', 'end']);
    const told = await catchUp(deps, unread(), summary({ status: 'running', current_state: 'other', transitions: 5 }));
    expect(told.execution.status?.phase).toBe('cancelled');
  });

  it('asks nothing of an execution that nobody has begun', async () => {
    const { deps, asked } = scripted([]);
    await catchUp(deps, unread(), summary({ status: 'pending', current_state: null, started_at: null }));
    expect(asked).toEqual([]);
  });

  it('throws what the server refuses', async () => {
    const { deps } = scripted([new WindlassConnectionError('gone')]);
    await expect(catchUp(deps, unread(), summary())).rejects.toThrow('gone');
  });
});

describe('following an execution', () => {
  it('tells each state once, those that come at once as one, and the end with why', async () => {
    const { deps } = scripted(['start', 'build', 60, 'built', 'ask', 'asked', 60, 'end']);
    const seen: WorkflowExecution[] = [];
    for await (const { execution } of followTold(deps, unread(), never)) seen.push(execution);
    expect(seen.map(stateOf)).toEqual(['undefined -', 'running build', 'waiting ask', 'cancelled -']);
    expect(seen.at(-1)?.status).toMatchObject({ reason: 'Cancelled', transitions: 1 });
  });

  it('waits a moment for a replica that has not seen the end', async () => {
    const { deps } = scripted(['end'], [summary(), summary()]);
    expect(await states(deps)).toEqual(['undefined -', 'cancelled -']);
  });

  it('goes on behind the last event that was read', async () => {
    const { deps, asked } = scripted(['end']);
    await states(deps, never, { ...unread(), lastEventId: '1.started' });
    expect(asked).toEqual(['1.started']);
  });

  it('asks nothing of one that has ended', async () => {
    const { deps, asked } = scripted([]);
    const ended = { execution: wholeExecutionOf(summary({ status: 'completed' })), lastEventId: 'end' };
    expect(await states(deps, never, ended)).toEqual(['completed -']);
    expect(asked).toEqual([]);
  });

  it('ends quietly when it is told to, and when its reader leaves, though no event ever comes', async () => {
    const stop = new AbortController();
    const { deps, isOpen } = scripted(['start', 'build']);
    setTimeout(() => stop.abort(), 60);
    expect(await states(deps, stop.signal)).toEqual(['undefined -', 'running build']);
    for await (const { execution } of followTold(deps, unread(), never)) if (execution.status?.current) break;
    await systemClock.sleep(1);
    expect(isOpen()).toBe(false);
  });

  it('says that it was deleted', async () => {
    const { deps } = scripted(['start', 'deleted']);
    await expect(states(deps)).rejects.toMatchObject({ reason: 'Deleted', message: 'execution demo-1 was deleted' });
  });
});
