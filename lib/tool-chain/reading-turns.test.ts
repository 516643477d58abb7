import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { type ParsedResponse, readResponse } from './read-response.ts';
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

const read = <T>(
  inTurn: ReadInTurn,
  response: typeof large & { readonly secrets?: readonly string[] },
  use: (parsed: ParsedResponse) => Promise<T>,
  { signal = never, expressions = [] as string[] } = {},
): Promise<T> => readResponse(response, { inTurn, signal, expressions }, use);

const valueOf = async ({ value }: ParsedResponse): Promise<unknown> => value;

const search = (inTurn: ReadInTurn, response: typeof large) => (turn: () => number) =>
  read(inTurn, response, async (parsed) => (await parsed.extract('$[*]', () => ({ value: turn() })))?.value as number, {
    expressions: ['$[*]'],
  });

describe('createReadingTurns', () => {
  it('begins each search of a large response, and each reading of one, in a turn of the event loop of its own', async () => {
    const turns = createReadingTurns(systemClock);
    const readings = ['acme', 'acme', 'acme', 'globex', 'globex'].map((tenant) => search(turns.of(tenant), large));
    const searched = await turnsOf(readings);
    expect(new Set(searched).size).toBe(readings.length);
    const reading = (turn: () => number) => read(turns.of('acme'), huge, async () => turn());
    expect(new Set(await turnsOf([reading, reading, reading])).size).toBe(3);
  });

  it('searches small responses together', async () => {
    const turns = createReadingTurns(systemClock);
    const searched = await turnsOf(Array.from({ length: 50 }, () => search(turns.of('acme'), small)));
    expect(new Set(searched).size).toBe(1);
  });

  it('takes the tenants by turns', async () => {
    const inTurn = createReadingTurns(systemClock);
    const order: string[] = [];
    const reading = (tenant: string) => inTurn.of(tenant)(never, async () => void order.push(tenant));
    await Promise.all(['acme', 'acme', 'acme', 'acme', 'globex', 'initech', 'globex'].map(reading));
    expect(order).toEqual(['acme', 'acme', 'globex', 'initech', 'acme', 'globex', 'acme']);
  });

  it('has the values of one large response at a time', async () => {
    const turns = createReadingTurns(systemClock);
    let [now, most] = [0, 0];
    const use = async (): Promise<void> => {
      now += 1;
      most = Math.max(most, now);
      await nextTurn();
      now -= 1;
    };
    const dear = body(`[${Array(10_000).fill('[]').join(',')}]`);
    const responses = [large, huge, dear, large, huge, dear];
    await Promise.all(responses.map((response, index) => read(turns.of(`tenant-${index}`), response, use)));
    expect(most).toBe(1);
  });

  it('fails the step where no turn comes in its time, for a cause of the gateway, and what that waited for is read', async () => {
    const inTurn = createReadingTurns(systemClock).of('acme');
    const step = new AbortController();
    const first = read(inTurn, large, valueOf);
    const second = read(inTurn, large, valueOf, { signal: step.signal });
    step.abort();
    await expect(second).rejects.toBeInstanceOf(StepFailure);
    await expect(second).rejects.toMatchObject({ isOfGateway: true });
    expect(await first).toHaveLength(5_000);
    expect(await read(inTurn, large, valueOf)).toHaveLength(5_000);
  });

  it('takes the secrets out of a large response in a turn before it is read, and out of a small one at once', async () => {
    const costs: number[] = [];
    const inTurn: ReadInTurn = (_signal, task) => task(async (cost) => void costs.push(cost));
    const cleaned = (text: string, ...secrets: string[]) => read(inTurn, { ...body(text), secrets }, valueOf);
    const padding = 'x'.repeat(1_000_000);
    expect(await cleaned(`["secret-1","${padding}"]`, 'secret-1')).toEqual(['[secret]', padding]);
    expect(costs).toEqual([10_000.15, 10_000.15, 10_000.15]);
    await cleaned(`["secret-1","${padding}"]`);
    expect(costs).toHaveLength(5);
    expect(await cleaned('["secret-1"]', 'secret-1')).toEqual(['[secret]']);
    expect(costs).toHaveLength(5);
  });

  it('fails the step of a response that holds a secret more often than it is taken out', async () => {
    const inTurn = createReadingTurns(systemClock).of('acme');
    const cleaned = (count: number) =>
      read(inTurn, { ...body(`"${'secret-1'.repeat(count)}"`), secrets: ['secret-1'] }, valueOf);
    expect(await cleaned(256)).toBe('[secret]'.repeat(256));
    await expect(cleaned(257)).rejects.toThrow('the response holds the credential of the call more than 256 times');
  });
});
