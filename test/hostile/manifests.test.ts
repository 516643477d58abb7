import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createManifestReader, type ManifestReader } from '../../lib/manifest/index.ts';
import { restedTurnMs } from './support/turns.ts';

const workerUrl = new URL('../../lib/manifest/manifest-worker.ts', import.meta.url);
const plain = `apiVersion: windlass.dev/v1
kind: Workflow
metadata: {name: plain, version: 1.0.0}
spec:
  initial_state: a
  states:
    a: {kind: System, command: finalize, transitions: []}
`;

const open = (
  options: { readonly timeoutMs?: number; readonly processorMs?: number; readonly idleMs?: number } = {},
): ManifestReader => createManifestReader({ clock: systemClock, workerUrl, timeoutMs: 60_000, ...options });
const manifests = open();

beforeAll(() => Promise.all(['eve', 'ada'].map((tenant) => manifests.read(plain, tenant))), 60_000);
afterAll(() => manifests.close());

/** As many states and rules as the schema allows, each with two fields that need a token for each of their words. */
function largest(): string {
  const rules = Array.from({ length: 20 }, (_, rule) => ({
    condition: 'exit_code',
    value: String(rule),
    target: 's0',
  }));
  const states = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [
      `s${index}`,
      { kind: 'System', command: 'finalize', transitions: index === 99 ? [] : rules },
    ]),
  );
  return JSON.stringify({
    apiVersion: 'windlass.dev/v1',
    kind: 'Workflow',
    metadata: { name: 'largest', version: '1.0.0' },
    spec: { initial_state: 's0', states },
  });
}

const hostile: Readonly<Record<string, string>> = {
  'commas in a list': `[${','.repeat(90_000)}]`,
  'maps behind one another': '{}'.repeat(40_000),
  'maps in a list': `[${Array(30_000).fill('{}').join(',')}]`,
  'open brackets': '['.repeat(90_000),
  'lists in lists': '- '.repeat(40_000),
  anchors: '&a '.repeat(30_000),
  documents: '---\n'.repeat(30_000),
  comments: '#\n'.repeat(30_000),
  'unknown fields': Array.from({ length: 12_000 }, (_, index) => `a${index}: 1\n`).join(''),
  'folded lines': `a: >\n${'  x\n'.repeat(200_000)}`,
  'empty lines': '\n'.repeat(900_000),
};

describe('an attacker who may register manifests', () => {
  it.each(Object.entries(hostile))(
    'keeps the event loop for less than 100 ms of its CPU time with %s',
    async (_, text) => {
      const longestMs = await restedTurnMs(async () => {
        const { problems } = await manifests.read(text, 'eve');
        expect(problems.length).toBeGreaterThan(0);
        expect(problems.length).toBeLessThanOrEqual(1_000);
      }, 100);
      expect(longestMs).toBeLessThan(100);
    },
  );

  it('and sends ten of the worst at once keeps no manifest of another tenant waiting for them', async () => {
    const order: string[] = [];
    const worst = hostile['commas in a list'] ?? '';
    const all = Array.from({ length: 10 }, () => manifests.read(worst, 'eve').then(() => order.push('eve')));
    const mine = manifests.read(plain, 'ada').then((reading) => {
      order.push('ada');
      return reading;
    });
    expect(await mine).toMatchObject({ problems: [], workflow: { metadata: { name: 'plain' } } });
    await Promise.all(all);
    expect(order.indexOf('ada')).toBeLessThanOrEqual(1);
  });

  it('is refused where a text takes too long, and the next one is read in a new thread', async () => {
    const hasty = open({ timeoutMs: 1, processorMs: 0 });
    await expect(hasty.read(hostile['open brackets'] ?? '', 'eve')).rejects.toMatchObject({
      code: 'limit_exceeded',
      reason: 'ManifestTooCostly',
      message: expect.stringContaining('make it smaller'),
    });
    // The next one has a thread again, which is as hasty.
    await expect(hasty.read(hostile['open brackets'] ?? '', 'eve')).rejects.toMatchObject({ code: 'limit_exceeded' });
    await hasty.close();
  });

  it('is answered 503, which says to try again, where the thread had too small a share of the processor', async () => {
    const busy = open({ timeoutMs: 1, processorMs: Number.POSITIVE_INFINITY });
    const refused = busy.read(hostile['open brackets'] ?? '', 'eve');
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('try again') });
    await busy.close();
  });

  it('finds a bounded line: the hundredth that waits is refused, at once', async () => {
    const all = Array.from({ length: 120 }, () =>
      manifests.read(plain, 'eve').then(
        () => 'read',
        (error: { code: string }) => error.code,
      ),
    );
    expect(await Promise.race(all)).toBe('unavailable');
    const ended = await Promise.all(all);
    expect(ended.filter((end) => end === 'read').length).toBeGreaterThan(50);
  });
});

describe('a user who registers correct manifests', () => {
  it('may have a definition of the most states and rules', async () => {
    const { problems, workflow } = await manifests.read(largest(), 'ada');
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(Object.keys(workflow?.spec.states ?? {})).toHaveLength(100);
  });

  it('finds that a thread which rests ends, and another begins with the next text', async () => {
    const restless = open({ idleMs: 1 });
    expect(await restless.read(plain, 'ada')).toMatchObject({ problems: [] });
    await systemClock.sleep(50);
    expect(await restless.read(plain, 'ada')).toMatchObject({ problems: [] });
    await restless.close();
  });
});
