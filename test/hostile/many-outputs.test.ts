import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCaptures } from '../../controllers/step-pods/captures.ts';
import { stepPodLimits } from '../../controllers/step-pods/limits.ts';
import type { LogOptions, ObjectRef, Pod } from '../../lib/kube/index.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { silentLogger } from '../support/silent-logger.ts';

const report = (text: string) => ({
  bytes: text.length,
  total_bytes: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
  truncated: false,
});

const trailerOf = (stdout: string): string =>
  JSON.stringify({
    v: 1,
    exit_code: 0,
    started_at: '2026-01-02T03:04:05Z',
    finished_at: '2026-01-02T03:04:06Z',
    duration_ms: 1_000,
    stdout: report(stdout),
    stderr: report(''),
  });

/** A step that has ended; `message` is what it left as its termination message. */
const ended = (name: string, namespace: string, message: string): Pod =>
  ({
    metadata: { name, namespace, uid: `${namespace}-${name}` },
    spec: { containers: [] },
    status: { containerStatuses: [{ name: 'step', state: { terminated: { exitCode: 0, message } } }] },
  }) as unknown as Pod;

/** Logs that end when the test says so, and how many were read at once. */
function setUp(output: string) {
  const log = Buffer.from(`${output}\x1d${trailerOf(output)}\n`);
  const stop = new AbortController();
  const known: string[] = [];
  const reading = new Map<string, () => void>();
  const seen = { most: 0 };
  const kube = {
    async *readLog({ name, namespace }: ObjectRef, _options?: LogOptions): AsyncGenerator<Uint8Array> {
      await new Promise<void>((resolve) => {
        reading.set(`${namespace}-${name}`, resolve);
        seen.most = Math.max(seen.most, reading.size);
      });
      reading.delete(`${namespace}-${name}`);
      yield log;
    },
  };
  const captures = createCaptures({
    kube,
    clock: createManualClock(),
    logger: silentLogger,
    onKnown: ({ metadata }) => known.push(metadata.uid ?? ''),
    signal: stop.signal,
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { captures, known, reading, seen, turn };
}

/** The attacker lets thousands of pods end at once, or fills both streams of hundreds. */
describe('ended pods whose output is to be taken', () => {
  it('are read in turns, 5,000 of them, and another tenant does not wait for them', async () => {
    const { captures, known, reading, seen, turn } = setUp('small\n');
    const message = trailerOf('small\n');
    for (let index = 0; index < 5_000; index += 1) captures.follow(ended(`p${index}`, 'evil', message));
    await turn();
    expect(reading.size).toBeLessThanOrEqual(stepPodLimits.readsMax * 0.8);
    captures.follow(ended('mine', 'good', message));
    await turn();
    expect([...reading.keys()]).toContain('good-mine');
    for (let round = 0; round < 100 && known.length < 5_001; round += 1) {
      for (const end of reading.values()) end();
      await turn();
      await turn();
    }
    expect(known).toHaveLength(5_001);
    expect(seen.most).toBeLessThanOrEqual(stepPodLimits.readsMax);
  });

  it('with full output hold no more memory than there is for them, until it is stored', async () => {
    const megabyte = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    const { captures, known, reading, turn } = setUp(megabyte);
    const message = trailerOf(megabyte);
    const pods = Array.from({ length: 250 }, (_, index) => ended(`p${index}`, 'evil', message));
    for (const pod of pods) captures.follow(pod);
    const settle = async (): Promise<void> => {
      for (let round = 0; round < 60; round += 1) {
        for (const end of reading.values()) end();
        await turn();
      }
    };
    await settle();
    // None is stored yet: the known ones fill the tenant's share, the others wait.
    expect(known.length).toBeLessThanOrEqual(stepPodLimits.logMemoryBytes / (3 * megabyte.length));
    expect(known.length).toBeGreaterThan(20);
    captures.follow(ended('mine', 'good', message));
    await settle();
    expect(known).toContain('good-mine');
    for (let stored = 0; stored < known.length; stored += 1) {
      captures.forget(known[stored] ?? '');
      if (stored % 10 === 9) await settle();
    }
    await settle();
    expect(new Set(known).size).toBe(251);
  });

  it('that say they wrote little and wrote much are read all the same', async () => {
    const { captures, known, reading, turn } = setUp(`${'x'.repeat(1024 * 1024 - 1)}\n`);
    captures.follow(ended('p', 'evil', trailerOf('')));
    for (let round = 0; round < 10; round += 1) {
      for (const end of reading.values()) end();
      await turn();
    }
    expect(known).toEqual(['evil-p']);
  });
});
