import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { AppError } from '../../../../lib/errors.ts';
import type { Pod } from '../../../../lib/kube/index.ts';
import { slotMetadata } from '../../../../lib/pod-slot.ts';
import { anExecution } from '../../../../test/builders/execution-builder.ts';
import { createManualClock } from '../../../../test/support/manual-clock.ts';
import { executionOutput, lookAt, type LogWish } from './follow-output.ts';

const hash = '0'.repeat(64);
const report = { bytes: 0, total_bytes: 0, sha256: hash, truncated: false };
const at = '2026-01-02T03:04:05Z';
const trailer = `\x1d${JSON.stringify({ v: 1, exit_code: 0, started_at: at, finished_at: at, duration_ms: 1, stdout: report, stderr: report })}\n`;

function aPod(attempt: number, started = true): Pod {
  const state = started ? { running: {} } : { waiting: { reason: 'ContainerCreating' } };
  return {
    metadata: { name: `build-${attempt}`, namespace: 'team', ...slotMetadata({ state: 'build', visit: 1, attempt }) },
    spec: { containers: [] },
    status: { containerStatuses: [{ name: 'step', state }] },
  } as unknown as Pod;
}

const building = (attempt = 1) => anExecution().now({ state: 'build', kind: 'ContainerRun', attempt }).build();
const built = (stdout: string, stderr = '', attempts = 1) =>
  anExecution()
    .past({ state: 'build', attempts }, { output: { exit_code: 0, stdout, stderr } })
    .ended('completed', 2)
    .build();

/** The state at each look: the execution, its pods, and the log of each pod. */
interface Look {
  readonly execution: WorkflowExecution | undefined;
  readonly pods?: readonly Pod[];
  readonly log?: () => AsyncGenerator<Uint8Array>;
}

async function* log(...parts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield Buffer.from(part, 'latin1');
  }
}

/** All output that is sent during these looks. */
async function outputOf(looks: readonly Look[], wish: Partial<LogWish> = {}, signal = new AbortController().signal) {
  let index = 0;
  const clock = createManualClock();
  const now = () => looks[Math.min(index, looks.length - 1)];
  const deps = {
    kube: {
      listAll: () => Promise.resolve({ metadata: {}, items: (now()?.pods ?? []) as never[] }),
      readLog: () => now()?.log?.() ?? log(),
    },
    outputs: () => () => Promise.reject(new Error('nothing is stored')),
    clock: { ...clock, sleep: () => Promise.resolve() },
    version: () => undefined,
    latest: () => {
      index += 1;
      return Promise.resolve(now()?.execution);
    },
    signal,
    reserve: () => Promise.resolve(),
    letGo: () => undefined,
  };
  const whole = { follow: true, ...wish };
  const first = lookAt(looks[0]?.execution ?? building(), whole);
  const text = { stdout: '', stderr: '' };
  for await (const { stream, bytes } of executionOutput(deps, first, whole)) {
    text[stream] += Buffer.from(bytes).toString('latin1');
  }
  return text;
}

describe('following what a command writes', () => {
  it('tells what the pod gives, and nothing of it again when it is stored', async () => {
    const looks = [
      { execution: building(), pods: [aPod(1)], log: () => log('a\n\x1eb\n', 'c\n', trailer) },
      { execution: built('a\nc\n', 'b\n') },
    ];
    expect(await outputOf(looks)).toEqual({ stdout: 'a\nc\n', stderr: 'b\n' });
  });

  it('tells the rest from the store where the log of the pod broke off', async () => {
    const looks = [
      { execution: building(), pods: [aPod(1)], log: () => log('one\n\x1eerr') },
      { execution: built('one\ntwo\n', 'error\n') },
    ];
    expect(await outputOf(looks)).toEqual({ stdout: 'one\ntwo\n', stderr: 'error\n' });
  });

  it('continues in the pod where its log was cut off, as when a connection ended', async () => {
    const looks = [
      { execution: building(), pods: [aPod(1)], log: () => log('one\n') },
      { execution: building(), pods: [aPod(1)], log: () => log('one\ntwo\n', trailer) },
      { execution: built('one\ntwo\n') },
    ];
    expect(await outputOf(looks)).toEqual({ stdout: 'one\ntwo\n', stderr: '' });
  });

  it('tells a further attempt from its beginning, and what is stored of it not again', async () => {
    const looks = [
      { execution: building(), pods: [aPod(1)], log: () => log('first\n', trailer) },
      { execution: building(2), pods: [aPod(1), aPod(2)], log: () => log('second\n', trailer) },
      { execution: built('second\n', '', 2) },
    ];
    expect(await outputOf(looks)).toEqual({ stdout: 'first\nsecond\n', stderr: '' });
  });

  it('waits for a state that has not begun, a pod that is not there and one that has not started', async () => {
    const looks = [
      { execution: anExecution().now({ state: 'other', kind: 'Human' }).build() },
      { execution: building() },
      { execution: building(), pods: [aPod(1, false)], log: () => log(new Error('it was read')) },
      { execution: building(), pods: [aPod(1)], log: () => log('x\n', trailer) },
      { execution: built('x\n') },
    ];
    expect(await outputOf(looks, { state: 'build' })).toEqual({ stdout: 'x\n', stderr: '' });
  });

  it('ends when the execution is deleted', async () => {
    const looks = [{ execution: building(), pods: [aPod(1)], log: () => log('x\n') }, { execution: undefined }];
    expect(await outputOf(looks)).toEqual({ stdout: 'x\n', stderr: '' });
  });

  it('ends with the state that was named, while the execution is still running', async () => {
    const next = anExecution()
      .past({ state: 'build' }, { output: { exit_code: 0, stdout: 'x\n', stderr: '' } })
      .now({ state: 'ask', kind: 'Human' })
      .build();
    expect(await outputOf([{ execution: next }], { state: 'build' })).toEqual({ stdout: 'x\n', stderr: '' });
  });

  it('ends when no client listens any more', async () => {
    const over = new AbortController();
    over.abort();
    expect(await outputOf([{ execution: building() }], {}, over.signal)).toEqual({ stdout: '', stderr: '' });
  });

  it('continues when the API server answers again', async () => {
    const broken = new AppError('unavailable', 'no answer');
    const looks = [
      { execution: building(), pods: [aPod(1)], log: () => log('x\n', broken) },
      { execution: building(), pods: [aPod(1)], log: () => log(broken) },
      { execution: building(), pods: [aPod(1)], log: () => log('x\ny\n', trailer) },
      { execution: built('x\ny\n') },
    ];
    expect(await outputOf(looks)).toEqual({ stdout: 'x\ny\n', stderr: '' });
  });

  it('fails with what no repetition can help', async () => {
    const broken = new AppError('internal', 'the bytes are not what their hash says');
    await expect(outputOf([{ execution: building(), pods: [aPod(1)], log: () => log(broken) }])).rejects.toBe(broken);
  });
});

it('a command that writes for hours holds nothing of its execution, and an unchanged one is not read again', async () => {
  const acts: string[] = [];
  const over = new AbortController();
  const deps = {
    kube: {
      listAll: () => Promise.resolve({ metadata: {}, items: [aPod(1)] as never[] }),
      readLog: () => (acts.push('followed'), log('x\n')),
    },
    outputs: () => () => Promise.reject(new Error('nothing is stored')),
    clock: { ...createManualClock(), sleep: async () => (acts.length > 5 ? over.abort() : undefined) },
    version: () => (acts.push('looked'), '1'),
    latest: () => Promise.reject(new Error('it was read again')),
    signal: over.signal,
    reserve: async () => void acts.push('reserved'),
    letGo: () => void acts.push('let go'),
  };
  const running = anExecution()
    .past({ state: 'lint' }, { output: { exit_code: 0, stdout: 'l\n', stderr: '' } })
    .now({ state: 'build', kind: 'ContainerRun', attempt: 1 })
    .build();
  const first = lookAt(running, { follow: true });
  expect(first.stored).toHaveLength(1);
  for await (const { stream } of executionOutput(deps, first, { follow: true })) acts.push(stream);
  const firstLook = ['reserved', 'stdout', 'let go', 'followed', 'stdout'];
  expect(acts).toEqual([...firstLook, 'looked', 'let go', 'followed']);
  expect(first.stored).toHaveLength(0);
});

describe('what there is of a log now', () => {
  it('is sent without waiting for more', async () => {
    const looks = [{ execution: building(), pods: [aPod(1)], log: () => log('x\n') }];
    expect(await outputOf(looks, { follow: false })).toEqual({ stdout: 'x\n', stderr: '' });
    expect(await outputOf([{ execution: building() }], { follow: false })).toEqual({ stdout: '', stderr: '' });
  });

  it('fails when the API server cannot be asked', async () => {
    const broken = new AppError('unavailable', 'no answer');
    const looks = [{ execution: building(), pods: [aPod(1)], log: () => log('x\n', broken) }];
    await expect(outputOf(looks, { follow: false })).rejects.toBe(broken);
  });

  it('of a place where nothing has run is refused', async () => {
    await expect(outputOf([{ execution: building() }], { follow: false, state: 'nope' })).rejects.toMatchObject({
      reason: 'NoSuchLog',
    });
  });
});
