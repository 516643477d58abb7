import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { readResponse } from './read-response.ts';
import { createReadingTurns, type ReadInTurn } from './reading-turns.ts';
import { StepFailure } from './step-failure.ts';

const never = new AbortController().signal;
const body = (text: string) => ({ status: 200, body: Buffer.from(text) });
const large = body(JSON.stringify(Array.from({ length: 5_000 }, (_, id) => ({ id, text: 'some more characters' }))));
const huge = body(JSON.stringify('x'.repeat(1_000_000)));
const small = body('[1,2,3]');

/** Resolves to the number of the turn in which each reading took place. */
async function turnsOf(readings: readonly ((turn: () => number) => Promise<number>)[]): Promise<number[]> {
  let turn = 0;
  const over = new AbortController();
  const count = async (): Promise<void> => {
    for (; !over.signal.aborted; turn += 1) await nextTurn();
  };
  const counting = count();
  const turns = await Promise.all(readings.map((read) => read(() => turn)));
  over.abort();
  await counting;
  return turns;
}

const search = (inTurn: ReadInTurn, response: typeof large) => async (turn: () => number) => {
  const parsed = await readResponse(response, { inTurn, signal: never });
  const found = await parsed.extract('$[*]', () => ({ value: turn() }));
  return found?.value as number;
};

describe('createReadingTurns', () => {
  it('begins each search of a large response, and each reading of one, in a turn of the event loop of its own', async () => {
    const turns = createReadingTurns(systemClock);
    const readings = ['acme', 'acme', 'acme', 'globex', 'globex'].map((tenant) => search(turns.of(tenant), large));
    const searched = await turnsOf(readings);
    expect(new Set(searched).size).toBe(readings.length);
    const read = (turn: () => number) =>
      readResponse(huge, { inTurn: turns.of('acme'), signal: never }).then(() => turn());
    expect(new Set(await turnsOf([read, read, read])).size).toBe(3);
  });

  it('searches small responses together', async () => {
    const turns = createReadingTurns(systemClock);
    const searched = await turnsOf(Array.from({ length: 50 }, () => search(turns.of('acme'), small)));
    expect(new Set(searched).size).toBe(1);
  });

  it('takes the tenants by turns', async () => {
    const inTurn = createReadingTurns(systemClock);
    const order: string[] = [];
    const read = (tenant: string) => inTurn.of(tenant)({ cost: 10_000, signal: never }, () => void order.push(tenant));
    await Promise.all(['acme', 'acme', 'acme', 'acme', 'globex', 'initech', 'globex'].map(read));
    expect(order).toEqual(['acme', 'acme', 'globex', 'initech', 'acme', 'globex', 'acme']);
  });

  it('fails the step where no turn comes in its time, and what that waited for is read', async () => {
    const inTurn = createReadingTurns(systemClock).of('acme');
    const step = new AbortController();
    const first = readResponse(large, { inTurn, signal: never });
    const second = readResponse(large, { inTurn, signal: step.signal });
    step.abort();
    await expect(second).rejects.toBeInstanceOf(StepFailure);
    expect((await first).value).toHaveLength(5_000);
    expect((await readResponse(large, { inTurn, signal: never })).value).toHaveLength(5_000);
  });

  it('takes the secrets out of a large response in a turn before it is read, and out of a small one at once', async () => {
    const costs: number[] = [];
    const inTurn: ReadInTurn = async ({ cost }, task) => {
      costs.push(cost);
      return task();
    };
    const read = async (text: string, ...secrets: string[]) =>
      (await readResponse({ ...body(text), secrets }, { inTurn, signal: never })).value;
    const padding = 'x'.repeat(1_000_000);
    expect(await read(`["secret-1","${padding}"]`, 'secret-1')).toEqual(['[secret]', padding]);
    expect(costs).toEqual([10_000.15, 10_000.15, 10_000.15]);
    await read(`["secret-1","${padding}"]`);
    expect(costs).toHaveLength(5);
    expect(await read('["secret-1"]', 'secret-1')).toEqual(['[secret]']);
    expect(costs).toHaveLength(5);
  });

  it('fails the step of a response that holds a secret more often than it is taken out', async () => {
    const inTurn = createReadingTurns(systemClock).of('acme');
    const read = (count: number) =>
      readResponse({ ...body(`"${'secret-1'.repeat(count)}"`), secrets: ['secret-1'] }, { inTurn, signal: never });
    expect((await read(256)).value).toBe('[secret]'.repeat(256));
    await expect(read(257)).rejects.toThrow('the response holds the credential of the call more than 256 times');
  });
});
