import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { KubeError, type LogOptions, type Pod } from '../../lib/kube/index.ts';
import { silentLogger } from '../../lib/logger.ts';
import { createManualClock } from '../../lib/manual-clock.ts';
import { createCaptures } from './captures.ts';

const report = (text: string) => ({
  bytes: text.length,
  total_bytes: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
  truncated: false,
});

/** What a runner writes whose command printed these lines. */
const logOf = (stdout: string, exitCode = 0): string =>
  `${stdout}\x1d${JSON.stringify({
    v: 1,
    exit_code: exitCode,
    started_at: '2026-01-02T03:04:05Z',
    finished_at: '2026-01-02T03:04:06Z',
    duration_ms: 1_000,
    stdout: report(stdout),
    stderr: report(''),
  })}\n`;

const running = { running: { startedAt: '2026-01-02T03:04:05Z' } };
const terminated = (reason = 'Completed') => ({ terminated: { exitCode: 0, reason } });

const aPod = (state: object, uid = 'u1'): Pod =>
  ({
    metadata: { name: `pod-${uid}`, namespace: 'team-a', uid },
    spec: { containers: [] },
    status: { containerStatuses: [{ name: 'step', state }] },
  }) as unknown as Pod;

/** A log that stays open and silent until the reader goes away. */
const hangs = Symbol('hangs');
type LogAnswer = string | Error | typeof hangs;

function setUp(answers: LogAnswer[]) {
  const clock = createManualClock();
  const stop = new AbortController();
  const known: string[] = [];
  const asked: { follow?: boolean | undefined }[] = [];
  let open = 0;
  const kube = {
    async *readLog(_ref: object, { follow, signal }: LogOptions = {}): AsyncGenerator<Uint8Array> {
      asked.push({ follow });
      const answer = answers.shift() ?? hangs;
      if (answer instanceof Error) throw answer;
      if (answer !== hangs) return yield Buffer.from(answer);
      open += 1;
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
      open -= 1;
      return undefined;
    },
  };
  const captures = createCaptures({
    kube,
    clock,
    logger: silentLogger,
    onKnown: ({ metadata }) => known.push(metadata.uid ?? ''),
    signal: stop.signal,
  });
  return { captures, clock, stop, known, asked, open: () => open };
}

const request = { verb: 'get', resource: 'pods/log' };
const noAnswer = () => new AppError('unavailable', 'connection refused', { reason: 'NoAnswer' });
const kubeError = (status: number) => new KubeError(status, {} as never, request);

describe('a step that runs', () => {
  it('is followed, and its trailer is the outcome before the kubelet says so', async () => {
    const { captures, clock, known, asked } = setUp([logOf('hello\n')]);
    expect(captures.outcomeOf(aPod(running))).toBeUndefined();
    await clock.advance(0);
    expect(known).toEqual(['u1']);
    expect(asked).toEqual([{ follow: true }]);
    expect(captures.outcomeOf(aPod(running))).toMatchObject({ exitCode: 0, stdout: 'hello\n' });
    expect(clock.sleepers).toBe(0);
  });

  it.each([
    { ms: 59_999, open: 1 },
    { ms: 60_000, open: 0 },
    { ms: 60_001, open: 0 },
  ])('is followed for its first minute: after $ms ms $open logs are open', async ({ ms, open }) => {
    const set = setUp([hangs]);
    set.captures.outcomeOf(aPod(running));
    await set.clock.advance(ms);
    expect(set.open()).toBe(open);
    expect(set.captures.outcomeOf(aPod(running))).toBeUndefined();
    expect(set.asked).toHaveLength(1);
  });

  it('is read once more where its log broke off, after it has ended', async () => {
    const { captures, clock, asked } = setUp([noAnswer(), logOf('late\n')]);
    captures.outcomeOf(aPod(running));
    await clock.advance(0);
    captures.outcomeOf(aPod(terminated()));
    await clock.advance(0);
    expect(asked).toEqual([{ follow: true }, { follow: false }]);
    expect(captures.outcomeOf(aPod(terminated()))).toMatchObject({ stdout: 'late\n' });
  });

  it.each([
    { steps: 199, open: 199 },
    { steps: 200, open: 200 },
    { steps: 201, open: 200 },
  ])('is one of at most 200 of its tenant that are followed: of $steps, $open', async ({ steps, open }) => {
    const set = setUp([]);
    for (let i = 0; i < steps; i += 1) set.captures.outcomeOf(aPod(running, `u${i}`));
    const other = aPod(running, 'other');
    set.captures.outcomeOf({ ...other, metadata: { ...other.metadata, namespace: 'team-b' } });
    await set.clock.advance(0);
    expect(set.open()).toBe(open + 1);
  });
});

describe('a step that has ended', () => {
  it('is read once, however often it is asked for', async () => {
    const { captures, clock, known, asked } = setUp([logOf('out\n', 3)]);
    for (let i = 0; i < 3; i += 1) captures.outcomeOf(aPod(terminated()));
    await clock.advance(0);
    expect(captures.outcomeOf(aPod(terminated()))).toMatchObject({ exitCode: 3, failure: { reason: 'ExitCode' } });
    expect(asked).toHaveLength(1);
    expect(known).toEqual(['u1']);
  });

  it.each([
    { what: 'seven', failures: 7, outcome: { exitCode: 0, stdout: 'at last\n' } },
    { what: 'eight', failures: 8, outcome: { failure: { reason: 'CaptureFailed' } } },
  ])('may fail to be read seven times: $what', async ({ failures, outcome }) => {
    const answers = Array.from({ length: failures }, () => kubeError(500));
    const { captures, clock, known } = setUp([...answers, logOf('at last\n')]);
    captures.outcomeOf(aPod(terminated()));
    await clock.advance(60_000);
    expect(known).toEqual(['u1']);
    expect(captures.outcomeOf(aPod(terminated()))).toMatchObject(outcome);
  });

  it.each([
    { what: 'no answer', error: noAnswer() },
    { what: '429', error: kubeError(429) },
    { what: '503', error: kubeError(503) },
  ])('keeps its output through an outage of the API server of ten minutes: $what', async ({ error }) => {
    const answers: LogAnswer[] = Array.from({ length: 1_000 }, () => error);
    const { captures, clock, known } = setUp(answers);
    captures.outcomeOf(aPod(terminated()));
    await clock.advance(600_000);
    expect(known).toEqual([]);
    answers.splice(0, answers.length, logOf('kept\n'));
    await clock.advance(10_000);
    expect(captures.outcomeOf(aPod(terminated()))).toMatchObject({ exitCode: 0, stdout: 'kept\n' });
  });

  it('is read again where a reading gets stuck for a minute', async () => {
    const { captures, clock } = setUp([hangs, logOf('second\n')]);
    captures.outcomeOf(aPod(terminated()));
    await clock.advance(59_999);
    expect(captures.outcomeOf(aPod(terminated()))).toBeUndefined();
    await clock.advance(201);
    expect(captures.outcomeOf(aPod(terminated()))).toMatchObject({ stdout: 'second\n' });
  });

  it('has no output where its pod is gone', async () => {
    const { captures, clock, asked } = setUp([kubeError(404)]);
    captures.outcomeOf(aPod(terminated()));
    await clock.advance(60_000);
    expect(captures.outcomeOf(aPod(terminated()))).toMatchObject({ failure: { reason: 'CaptureFailed' } });
    expect(asked).toHaveLength(1);
  });

  it('and whose runner was killed keeps what it had printed', async () => {
    const { captures, clock, asked } = setUp(['some\n']);
    captures.outcomeOf(aPod(terminated('OOMKilled')));
    await clock.advance(60_000);
    const outcome = { stdout: 'some\n', failure: { reason: 'OutOfMemory' } };
    expect(captures.outcomeOf(aPod(terminated('OOMKilled')))).toMatchObject(outcome);
    expect(asked).toHaveLength(1);
  });
});

describe('a step that is forgotten', () => {
  it('is followed no more, and nobody is told of it', async () => {
    const { captures, clock, known, open } = setUp([hangs]);
    captures.outcomeOf(aPod(running));
    await clock.advance(0);
    captures.forget('u1');
    await clock.advance(60_000);
    expect({ open: open(), known, sleepers: clock.sleepers }).toEqual({ open: 0, known: [], sleepers: 0 });
  });

  it('is not read again', async () => {
    const { captures, clock, known, asked } = setUp([kubeError(500), kubeError(500)]);
    captures.outcomeOf(aPod(terminated()));
    await clock.advance(100);
    captures.forget('u1');
    await clock.advance(60_000);
    expect({ asked: asked.length, known, sleepers: clock.sleepers }).toEqual({ asked: 2, known: [], sleepers: 0 });
  });
});

it('nothing is read or told once the process gives up', async () => {
  const { captures, clock, stop, known, asked } = setUp([hangs]);
  captures.outcomeOf(aPod(running));
  await clock.advance(0);
  stop.abort();
  await clock.advance(60_000);
  captures.outcomeOf(aPod(terminated()));
  await clock.advance(60_000);
  expect({ known, asked: asked.length }).toEqual({ known: [], asked: 1 });
});
