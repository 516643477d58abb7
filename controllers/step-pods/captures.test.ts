import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { KubeError, type LogOptions, type Pod } from '../../lib/kube/index.ts';
import { anOutcome } from '../../test/builders/world-pods.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { type Captures, createCaptures } from './captures.ts';

const report = (text: string) => ({
  bytes: text.length,
  total_bytes: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
  truncated: false,
});

interface Run {
  readonly exitCode?: number;
  readonly reason?: string;
}

/** How a runner says that its command ended, in its log and in the termination message. */
const trailerOf = (stdout: string, { exitCode = 0, reason }: Run = {}): string =>
  JSON.stringify({
    v: 1,
    exit_code: exitCode,
    ...(reason === undefined ? {} : { reason }),
    started_at: '2026-01-02T03:04:05Z',
    finished_at: '2026-01-02T03:04:06Z',
    duration_ms: 1_000,
    stdout: report(stdout),
    stderr: report(''),
  });

/** Log of a runner whose command printed these lines. */
const logOf = (stdout: string, run: Run = {}): string => `${stdout}\x1d${trailerOf(stdout, run)}\n`;

const running = { running: { startedAt: '2026-01-02T03:04:05Z' } };
const terminated = (reason = 'Completed', exitCode = 0, message = '') => ({
  terminated: { exitCode, reason, message },
});

const aPod = (state: object, uid = 'u1', metadata: object = {}, status: object = {}): Pod =>
  ({
    metadata: { name: `pod-${uid}`, namespace: 'team-a', uid, ...metadata },
    spec: { containers: [] },
    status: { containerStatuses: [{ name: 'step', state }], ...status },
  }) as unknown as Pod;

/** A log that stays open and silent until the reader leaves. */
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
const kubeError = (status: number, message = 'trouble') =>
  new KubeError(status, { message, reason: status === 404 ? 'NotFound' : 'InternalError' } as never, request);
const noRight =
  'pods "step" is forbidden: User "controllers" cannot get resource "pods/log" in API group "" in the namespace "team-a"';
const kubeletAway = () => kubeError(500, 'Get "https://10.0.0.1:10250/containerLogs/…": connect: connection refused');
/** A kubelet's answer, with 200, in the place of a log that it has collected already. */
const collected = 'failed to try resolving symlinks in path "/var/log/pods/x/step/0.log": no such file or directory';

/** As a reconcile does: it asks, and follows a pod of which nothing is known yet. */
function look(captures: Captures, pod: Pod) {
  const outcome = captures.outcomeOf(pod);
  if (outcome === undefined) captures.follow(pod);
  return outcome;
}

it.each([
  ['runs', running],
  ['has ended', terminated()],
])('asking for the outcome of a step that %s reads nothing', async (_, state) => {
  const { captures, clock, asked } = setUp([logOf('hello\n')]);
  expect(captures.outcomeOf(aPod(state))).toBeUndefined();
  await clock.advance(60_000);
  expect({ asked, sleepers: clock.sleepers }).toEqual({ asked: [], sleepers: 0 });
});

describe('a step that runs', () => {
  it('is followed, and its trailer is the outcome before the kubelet says so', async () => {
    const { captures, clock, known, asked } = setUp([logOf('hello\n')]);
    expect(look(captures, aPod(running))).toBeUndefined();
    await clock.advance(0);
    expect(known).toEqual(['u1']);
    expect(asked).toEqual([{ follow: true }]);
    expect(look(captures, aPod(running))).toMatchObject({ exitCode: 0, stdout: 'hello\n' });
    expect(clock.sleepers).toBe(0);
  });

  it.each([
    { ms: 59_999, open: 1 },
    { ms: 60_000, open: 0 },
    { ms: 60_001, open: 0 },
  ])('is followed for its first minute: after $ms ms $open logs are open', async ({ ms, open }) => {
    const set = setUp([hangs]);
    look(set.captures, aPod(running));
    await set.clock.advance(ms);
    expect(set.open()).toBe(open);
    expect(look(set.captures, aPod(running))).toBeUndefined();
    expect(set.asked).toHaveLength(1);
  });

  it('is read once more where its log broke off, after it has ended', async () => {
    const { captures, clock, asked } = setUp([noAnswer(), logOf('late\n')]);
    look(captures, aPod(running));
    await clock.advance(0);
    look(captures, aPod(terminated()));
    await clock.advance(0);
    expect(asked).toEqual([{ follow: true }, { follow: false }]);
    expect(look(captures, aPod(terminated()))).toMatchObject({ stdout: 'late\n' });
  });

  it.each([
    { steps: 199, open: 199 },
    { steps: 200, open: 200 },
    { steps: 201, open: 200 },
  ])('is one of at most 200 of its tenant that are followed: of $steps, $open', async ({ steps, open }) => {
    const set = setUp([]);
    for (let i = 0; i < steps; i += 1) look(set.captures, aPod(running, `u${i}`));
    const other = aPod(running, 'other');
    look(set.captures, { ...other, metadata: { ...other.metadata, namespace: 'team-b' } });
    await set.clock.advance(0);
    expect(set.open()).toBe(open + 1);
  });
});

describe('a step that has ended', () => {
  it('is read once, however often it is asked for', async () => {
    const { captures, clock, known, asked } = setUp([logOf('out\n', { exitCode: 3 })]);
    for (let i = 0; i < 3; i += 1) look(captures, aPod(terminated()));
    await clock.advance(0);
    expect(look(captures, aPod(terminated()))).toMatchObject({ exitCode: 3, failure: { reason: 'ExitCode' } });
    expect(asked).toHaveLength(1);
    expect(known).toEqual(['u1']);
  });

  it.each([
    { what: 'a kubelet that is away for 29 s', ms: 29_000 },
    { what: 'a kubelet that is away for five minutes', ms: 300_000 },
    { what: 'a kubelet that is away for ten minutes', ms: 590_000 },
  ])('keeps its output through $what', async ({ ms }) => {
    const answers: LogAnswer[] = Array.from({ length: 1_000 }, kubeletAway);
    const { captures, clock, known } = setUp(answers);
    look(captures, aPod(terminated('Completed', 0, trailerOf('kept\n'))));
    await clock.advance(ms);
    expect(known).toEqual([]);
    answers.splice(0, answers.length, logOf('kept\n'));
    await clock.advance(10_000);
    expect(look(captures, aPod(terminated()))).toEqual(anOutcome({ stdout: 'kept\n', durationMs: 1_000 }));
  });

  it.each([
    { proof: 'the termination message', state: terminated('Completed', 0, trailerOf('out\n')) },
    { proof: 'the kubelet alone', state: terminated('Completed', 0) },
  ])('and exited 0 is no failure, though its log cannot be read for ever: $proof says so', async ({ state }) => {
    const { captures, clock, known } = setUp(Array.from({ length: 1_000 }, kubeletAway));
    look(captures, aPod(state));
    await clock.advance(599_000);
    expect(known).toEqual([]);
    await clock.advance(10_000);
    const outcome = look(captures, aPod(state));
    expect(outcome).toMatchObject({ exitCode: 0, stdout: '', lost: expect.stringContaining('connection refused') });
    expect(outcome?.failure).toBeUndefined();
  });

  it('keeps the exit code of a command that failed where its log cannot be read', async () => {
    const state = terminated('Error', 3, trailerOf('out\n', { exitCode: 3 }));
    const { captures, clock } = setUp([kubeError(404)]);
    look(captures, aPod(state));
    await clock.advance(0);
    const outcome = look(captures, aPod(state));
    expect(outcome).toMatchObject({ exitCode: 3, failure: { reason: 'ExitCode' }, lost: expect.any(String) });
  });

  it.each([
    { failures: 7, outcome: { stdout: 'at last\n' }, lost: false },
    { failures: 8, outcome: { stdout: '' }, lost: true },
  ])('and whose log fits no hash is read seven times more: after $failures it is lost: $lost', async (row) => {
    const { captures, clock } = setUp([...Array.from({ length: row.failures }, () => 'cut'), logOf('at last\n')]);
    const state = terminated('Completed', 0, trailerOf('at last\n'));
    look(captures, aPod(state));
    await clock.advance(60_000);
    const outcome = look(captures, aPod(state));
    expect(outcome).toMatchObject({ exitCode: 0, ...row.outcome });
    expect(outcome?.lost !== undefined).toBe(row.lost);
  });

  it.each([
    { what: 'alone', text: collected, stdout: '' },
    { what: 'after the lines that were left', text: `some\n${collected}`, stdout: 'some\n' },
    { what: 'of a container that is gone', text: 'unable to retrieve container logs for containerd://1f', stdout: '' },
  ])("never takes the kubelet's own error text for its output: $what", async ({ text, stdout }) => {
    const set = setUp(Array.from({ length: 20 }, () => text));
    const killed = aPod(terminated('Error', 137));
    look(set.captures, killed);
    const proven = aPod(terminated('Completed', 0, trailerOf('some\nmore\n')), 'u2');
    look(set.captures, proven);
    await set.clock.advance(60_000);
    expect(look(set.captures, killed)).toMatchObject({ exitCode: 137, stdout, lost: expect.any(String) });
    expect(look(set.captures, proven)).toMatchObject({ exitCode: 0, stdout: '', lost: expect.any(String) });
  });

  it('believes no termination message that disagrees with the kubelet on the exit code', async () => {
    const { captures, clock } = setUp([kubeError(404)]);
    const forged = aPod(terminated('Error', 137, trailerOf('')));
    look(captures, forged);
    await clock.advance(0);
    expect(look(captures, forged)).toMatchObject({ exitCode: 137, failure: { reason: 'CaptureFailed' } });
  });

  it.each([
    { what: 'no answer', error: noAnswer() },
    { what: '429', error: kubeError(429) },
    { what: '503', error: kubeError(503) },
    { what: 'a server that has just begun', error: kubeError(403, noRight) },
    { what: 'an identity that is refused', error: kubeError(401, 'Unauthorized') },
  ])('keeps its output through an outage of the API server of eleven minutes: $what', async ({ error }) => {
    const answers: LogAnswer[] = Array.from({ length: 1_000 }, () => error);
    const { captures, clock, known } = setUp(answers);
    look(captures, aPod(terminated()));
    await clock.advance(660_000);
    expect(known).toEqual([]);
    answers.splice(0, answers.length, logOf('kept\n'));
    await clock.advance(10_000);
    expect(look(captures, aPod(terminated()))).toMatchObject({ exitCode: 0, stdout: 'kept\n' });
  });

  it('is read again where a reading gets stuck for a minute', async () => {
    const { captures, clock } = setUp([hangs, logOf('second\n')]);
    look(captures, aPod(terminated()));
    await clock.advance(59_999);
    expect(look(captures, aPod(terminated()))).toBeUndefined();
    await clock.advance(501);
    expect(look(captures, aPod(terminated()))).toMatchObject({ stdout: 'second\n' });
  });

  it('is not asked for again where its pod is gone', async () => {
    const { captures, clock, asked } = setUp([kubeError(404)]);
    look(captures, aPod(terminated()));
    await clock.advance(60_000);
    expect(look(captures, aPod(terminated()))).toMatchObject({ exitCode: 0, lost: expect.any(String) });
    expect(asked).toHaveLength(1);
  });

  it('and whose runner was killed for its memory keeps the whole lines that it had printed', async () => {
    const { captures, clock, asked } = setUp(['some\nhalf']);
    const killed = aPod(terminated('OOMKilled', 137));
    look(captures, killed);
    await clock.advance(60_000);
    expect(look(captures, killed)).toMatchObject({ stdout: 'some\n', failure: { reason: 'OutOfMemory' } });
    expect(asked).toHaveLength(1);
  });
});

describe('a step in deletion', () => {
  const stopped = { exitCode: 143, reason: 'terminated' };
  const going = { deletionTimestamp: '2026-01-02T03:05:05Z' };
  const drained = {
    conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'drain' }],
  };

  it.each([
    { what: 'by its deletion', metadata: going, status: {}, reason: 'PodDeleted' },
    { what: 'by a drain', metadata: going, status: drained, reason: 'PodDrained' },
  ])('$what is known as soon as its trailer and its object are', async ({ metadata, status, reason }) => {
    const { captures, clock, known } = setUp([logOf('out\n', stopped)]);
    look(captures, aPod(running));
    await clock.advance(0);
    expect(known).toEqual([]);
    const outcome = look(captures, aPod(running, 'u1', metadata, status));
    expect(outcome).toMatchObject({ stdout: 'out\n', failure: { reason } });
  });

  it('from within its own container has an exit code and was not deleted', async () => {
    const { captures, clock, asked } = setUp([logOf('out\n', stopped)]);
    look(captures, aPod(running));
    await clock.advance(0);
    const outcome = look(captures, aPod(terminated('Error', 143)));
    expect(outcome).toMatchObject({
      exitCode: 143,
      stdout: 'out\n',
      failure: { reason: 'ExitCode', message: 'exit code 143, after a signal from within the container' },
    });
    expect(asked).toHaveLength(1);
  });

  it('and exited 0 has succeeded at once', async () => {
    const { captures, clock, known } = setUp([logOf('out\n', { ...stopped, exitCode: 0 })]);
    look(captures, aPod(running));
    await clock.advance(0);
    expect(known).toEqual(['u1']);
    expect(look(captures, aPod(running))?.failure).toBeUndefined();
  });

  it('is followed again, before its node collects its log', async () => {
    const { captures, clock, asked } = setUp([hangs, logOf('out\n', stopped)]);
    look(captures, aPod(running));
    await clock.advance(60_000);
    look(captures, aPod(running));
    expect(asked).toHaveLength(1);
    look(captures, aPod(running, 'u1', going));
    await clock.advance(0);
    expect(asked).toEqual([{ follow: true }, { follow: true }]);
    expect(look(captures, aPod(running, 'u1', going))).toMatchObject({ stdout: 'out\n' });
  });
});

it('an output that cannot be stored now gives its room back, and its log is read again', async () => {
  const long = `${'x'.repeat(400_000)}\n`;
  const { captures, clock, asked } = setUp([logOf(long), logOf(long)]);
  const ended = aPod(terminated());
  captures.giveBack('u1');
  look(captures, ended);
  captures.giveBack('u1');
  await clock.advance(0);
  expect(look(captures, ended)).toMatchObject({ stdout: long });
  captures.giveBack('u1');
  expect(look(captures, ended)).toBeUndefined();
  await clock.advance(0);
  expect(look(captures, ended)).toMatchObject({ stdout: long });
  expect(asked).toHaveLength(2);
});

describe('a step that is forgotten', () => {
  it('is followed no more, and reported to no reader', async () => {
    const { captures, clock, known, open } = setUp([hangs]);
    look(captures, aPod(running));
    await clock.advance(0);
    captures.forget('u1');
    await clock.advance(60_000);
    expect({ open: open(), known, sleepers: clock.sleepers }).toEqual({ open: 0, known: [], sleepers: 0 });
  });

  it('is not read again', async () => {
    const { captures, clock, known, asked } = setUp([kubeError(500), kubeError(500)]);
    look(captures, aPod(terminated()));
    await clock.advance(100);
    captures.forget('u1');
    await clock.advance(60_000);
    expect({ asked: asked.length, known, sleepers: clock.sleepers }).toEqual({ asked: 1, known: [], sleepers: 0 });
  });
});

it('nothing is read or reported once the process gives up', async () => {
  const { captures, clock, stop, known, asked } = setUp([hangs]);
  look(captures, aPod(running));
  await clock.advance(0);
  stop.abort();
  await clock.advance(60_000);
  look(captures, aPod(terminated()));
  await clock.advance(60_000);
  expect({ known, asked: asked.length }).toEqual({ known: [], asked: 1 });
});
