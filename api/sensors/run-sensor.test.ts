import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import type { LogFields, Logger } from '../../lib/logger.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { type Ingest, IngestError, type Submission } from '../ingest/index.ts';
import { outcomeUnknown } from '../ingest/start-execution.ts';
import { mostInFlight, runSensor } from './run-sensor.ts';
import { createStdinSensor, longestLine } from './stdin/stdin-sensor.ts';

const accepted = { stimulusId: 's', workflowExecutionId: 'e' };

function setup(ingest: Ingest = async () => accepted) {
  const stream = new PassThrough({ highWaterMark: 1_024 });
  const clock = createManualClock();
  const [stop, abandon] = [new AbortController(), new AbortController()];
  const lines: (readonly [message: string, fields: LogFields])[] = [];
  const log = (fields: LogFields, message: string): void => void lines.push([message, fields]);
  const logger: Logger = { ...silentLogger, info: log, warn: log, error: log, child: () => logger };
  const seen: Submission[] = [];
  const sensor = createStdinSensor({ stream, tenant: 'acme', logger });
  const ended = runSensor(
    sensor,
    { stop: stop.signal, abandon: abandon.signal },
    {
      ingest: (submission) => {
        seen.push(submission);
        return ingest(submission);
      },
      clock,
      logger,
      random: () => 0,
    },
  );
  return { stream, clock, stop, abandon, lines, seen, ended, logged: () => lines.map(([message]) => message) };
}

const line = (content: unknown, more: object = {}): string => `${JSON.stringify({ content, ...more })}\n`;

describe('STIM-19 AMB-051 the sensor of standard input', () => {
  it('STIM-19 hands over each line as one stimulus of its tenant', async () => {
    const { stream, ended, seen, clock } = setup();
    stream.end(line('a') + line('b', { source: 'tickets', idempotency_key: 'k' }));
    await ended;
    expect(seen).toMatchObject([
      { source: { kind: 'Stdin', name: 'stdin' }, tenant: 'acme', content: 'a', receivedAt: clock.now() },
      { source: { kind: 'Stdin', name: 'tickets' }, idempotencyKey: 'k' },
    ]);
  });

  it('skips what is no stimulus, says which line and why, and not what it held', async () => {
    const { stream, ended, seen, lines } = setup();
    stream.end(`${line('a')}my secret\n\n \t\r\n{"content":"x","my secret":1}\n${line('b')}`);
    await ended;
    expect(seen.map(({ content }) => content)).toEqual(['a', 'b']);
    expect(lines.filter(([message]) => message === 'line skipped').map(([, fields]) => fields)).toEqual([
      { line: 2, problem: 'it is not JSON that every reader reads alike' },
      { line: 5, problem: 'it has an unknown field' },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it.each([
    [longestLine - 1, 2],
    [longestLine, 2],
    [longestLine + 1, 1],
  ])('takes a line of %i bytes and the one after it: %i of them', async (bytes, count) => {
    const { stream, ended, seen } = setup();
    const empty = Buffer.byteLength(line(''));
    stream.end(line('x'.repeat(bytes - empty + 1)) + line('after'));
    await ended;
    expect(seen).toHaveLength(count);
    expect(seen.at(-1)?.content).toBe('after');
  });

  it('works on a bounded number at a time, and reads no further meanwhile', async () => {
    const waiting: (() => void)[] = [];
    const { stream, ended, seen } = setup(() => new Promise((resolve) => waiting.push(() => resolve(accepted))));
    const total = mostInFlight * 100;
    let written = 0;
    const fed = (async () => {
      for (; written < total; written++) {
        if (!stream.write(line(written))) await new Promise((resolve) => stream.once('drain', resolve));
      }
      stream.end();
    })();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(seen).toHaveLength(mostInFlight);
    expect(written).toBeLessThan(total / 2);
    let settled = false;
    void ended.then(() => (settled = true));
    while (!settled) {
      for (const done of waiting.splice(0)) done();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await fed;
    expect(seen.map(({ content }) => content)).toEqual(Array.from({ length: total }, (_, index) => index));
  });

  it('continues after a stimulus that is refused', async () => {
    const errors = [
      new IngestError('no_router_configured', 'no route'),
      new IngestError('idempotent_duplicate', 'again', { originalStimulusId: 's-0' }),
      new AppError('limit_exceeded', 'too large'),
      new Error('a fault'),
    ];
    const { stream, ended, seen, lines, logged } = setup(async ({ content }) => {
      const error = errors[Number(content)];
      if (error !== undefined) throw error;
      return accepted;
    });
    stream.end([0, 1, 2, 3, 4].map((index) => line(index)).join(''));
    await ended;
    expect(seen).toHaveLength(5);
    expect(logged().filter((message) => message === 'stimulus refused')).toHaveLength(3);
    expect(logged()).toContain('stimulus failed');
    expect(lines).toContainEqual([
      'stimulus refused',
      expect.objectContaining({ outcome: 'idempotent_duplicate', originalStimulusId: 's-0' }),
    ]);
  });

  const away = (reason?: string): AppError =>
    new AppError('unavailable', 'away', reason === undefined ? {} : { reason });

  const answered = (status: number): KubeError =>
    new KubeError(status, { message: 'trouble' }, { verb: 'list', resource: 'workflows' });

  it.each<[title: string, more: object, error: AppError, attempts: number]>([
    ['with a key, whatever came of the attempt', { idempotency_key: 'k' }, away(outcomeUnknown), 3],
    ['with a key, when nothing came of it', { idempotency_key: 'k' }, away(), 3],
    ['without a key, when nothing came of it', {}, away(), 3],
    ['without a key not, when something may have', {}, away(outcomeUnknown), 1],
    ['when no answer came in time', {}, new AppError('timeout', 'no answer'), 3],
    ['when Kubernetes took too long', {}, answered(504), 3],
    ['when Kubernetes has trouble of its own', {}, answered(500), 3],
    ['not when Kubernetes denies it', { idempotency_key: 'k' }, answered(403), 1],
  ])('tries a stimulus again %s', async (_title, more, error, attempts) => {
    let calls = 0;
    const { stream, ended, seen, clock } = setup(async () => {
      calls += 1;
      if (calls < 3) throw error;
      return accepted;
    });
    stream.end(line('x', more));
    for (let step = 0; step < 10; step++) await clock.advance(1_000);
    await ended;
    expect(seen).toHaveLength(attempts);
    expect(new Set(seen.map(({ receivedAt }) => receivedAt)).size).toBe(1);
  });

  it('GEN-08 stops taking in when its signal aborts, and ends when all that it took is settled', async () => {
    let finish = (): void => undefined;
    const { stream, ended, seen, stop, logged } = setup(
      () => new Promise((resolve) => (finish = () => resolve(accepted))),
    );
    stream.write(line('a'));
    await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(stream.destroyed).toBe(true);
    expect(logged()).not.toContain('sensor ended');
    finish();
    await ended;
    expect(seen).toHaveLength(1);
    expect(logged().at(-1)).toBe('sensor ended');
  });

  it('GEN-08 gives up stimuli that still fail when the grace is over', async () => {
    const { stream, ended, clock, stop, abandon, logged } = setup(async () => {
      throw away();
    });
    stream.write(line('x', { idempotency_key: 'k' }));
    await clock.advance(1_000);
    stop.abort();
    abandon.abort();
    await ended;
    expect(logged()).toContain('stimulus given up');
  });

  it('ends when standard input does, and when it breaks', async () => {
    const closed = setup();
    closed.stream.end();
    await closed.ended;
    expect(closed.logged()).toEqual(['sensor started', 'sensor ended']);
    const broken = setup();
    broken.stream.destroy(new Error('EIO'));
    await broken.ended;
    expect(broken.logged()).toEqual(['sensor started', 'sensor failed', 'sensor ended']);
  });
});
