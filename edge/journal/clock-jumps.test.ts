import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import type { TokenTime } from './entries.ts';
import { type Journal, openJournal } from './journal.ts';

const owner = { uid: process.geteuid?.() ?? 0 };
const hour = 3_600_000;
const day = 24 * hour;
let folder: string;
let clock: ManualClock;
const open = (): Promise<Journal> => openJournal(join(folder, 'commands'), { clock, owner });
const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const token = (lifeMs: number): TokenTime => ({ ends: clock.now() + lifeMs, lifeMs });

async function stored(journal: Journal, number: number, of: TokenTime): Promise<void> {
  await journal.begin(id(number), of);
  await journal.end(id(number), Buffer.from('r'));
  await journal.stored([id(number)]);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edge-'));
  clock = createManualClock(Date.now());
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('AMB-200 a clock that was a day ahead for a minute', () => {
  it.each([false, true])('keeps no later command out and runs none again; restarted: %s', async (isRestarted) => {
    let journal = await open();
    const long = token(6 * hour);
    await stored(journal, 1, long);
    clock.step(day);
    await clock.advance(60_000);
    if (isRestarted) journal = await open();
    await journal.forget();
    if (isRestarted) journal = await open();
    clock.step(-day);
    await journal.begin(id(2), token(360_000));
    await expect(journal.begin(id(1), long)).rejects.toMatchObject({ code: 'already_exists' });
  });

  it('remembers a command that was refused meanwhile for no longer than others', async () => {
    const journal = await open();
    clock.step(day);
    await journal.refuse(id(1), Buffer.from('no'));
    await journal.stored([id(1)]);
    clock.step(-day);
    await clock.advance(2 * hour);
    await journal.forget();
    expect(journal.stateOf(id(1))).toBeUndefined();
    await journal.begin(id(2), token(1));
  });
});

describe('AMB-200 a journal that is opened again', () => {
  it('counts the time that former processes had it open', async () => {
    await stored(await open(), 1, token(hour));
    for (let part = 0; part < 8; part += 1) {
      const journal = await open();
      await clock.advance(hour / 6);
      await journal.forget();
    }
    expect((await open()).stateOf(id(1))).toBeUndefined();
  });

  it.each([
    ['a lost age', ''],
    ['a broken one', 'x'],
  ])('remembers each command for its whole life beside %s', async (_what, text) => {
    await stored(await open(), 1, token(hour));
    const journal = await open();
    await clock.advance(hour);
    await journal.forget();
    await writeFile(join(folder, 'commands', 'age'), text, { mode: 0o600 });
    const again = await open();
    await clock.advance(hour);
    await again.forget();
    expect(again.stateOf(id(1))).toBe('stored');
    await clock.advance(300_001);
    await again.forget();
    expect(again.stateOf(id(1))).toBeUndefined();
  });

  it('counts on after a start of the machine, whose steady clock begins anew', async () => {
    const first = await open();
    await clock.advance(hour);
    await stored(first, 1, token(hour));
    clock = createManualClock(clock.now());
    const second = await open();
    await clock.advance(hour + 300_000);
    await second.forget();
    expect(second.stateOf(id(1))).toBe('stored');
    await clock.advance(1);
    await second.forget();
    expect(second.stateOf(id(1))).toBeUndefined();
  });
});

describe('a folder of a former version', () => {
  /** Files as that version wrote them. */
  async function written(number: number, ends: number, at: number): Promise<void> {
    await open();
    for (const [state, content] of [
      ['begun', String(ends)],
      ['stored', ''],
    ] as const) {
      const path = join(folder, 'commands', `${id(number)}.${state}`);
      await writeFile(path, content, { mode: 0o600 });
      await utimes(path, at / 1_000, at / 1_000);
    }
  }

  it('is read: its commands run no second time, and are forgotten once their time is over', async () => {
    const at = clock.now();
    await written(1, at + hour, at);
    const journal = await open();
    const old = { ends: at + hour, lifeMs: hour };
    await expect(journal.begin(id(1), old)).rejects.toMatchObject({ code: 'already_exists' });
    await clock.advance(hour + 300_000);
    await journal.forget();
    expect(journal.stateOf(id(1))).toBe('stored');
    await clock.advance(1_000);
    await journal.forget();
    expect(journal.stateOf(id(1))).toBeUndefined();
    await expect(journal.begin(id(1), old)).rejects.toMatchObject({ reason: 'CommandExpired' });
  });

  it('is remembered for a day and ten minutes at most, whatever its times say', async () => {
    await written(1, clock.now() + 1_000, clock.now() - 365 * day);
    const journal = await open();
    await clock.advance(day + 600_001);
    await journal.forget();
    expect(journal.stateOf(id(1))).toBeUndefined();
  });

  it('is one again for that version where a host goes back to it', async () => {
    const journal = await open();
    const lives = [0, 1, 360_000, 86_700_000];
    for (const [number, lifeMs] of lives.entries()) await journal.begin(id(number), token(lifeMs));
    // It read the whole content as one number, the end of the token, and remembered an id for ever where that was none.
    const read = (number: number) => readFile(join(folder, 'commands', `${id(number)}.begun`), 'utf8').then(Number);
    expect(await Promise.all(lives.keys().map(read))).toEqual(lives.map((lifeMs) => token(lifeMs).ends));
    // Its own files beside those that it has not forgotten.
    await written(9, clock.now() + hour, clock.now());
    const again = await open();
    expect(lives.map((_, number) => again.stateOf(id(number)))).toEqual(lives.map(() => 'begun'));
    expect(again.stateOf(id(9))).toBe('stored');
  });

  it('keeps its horizon', async () => {
    await open();
    await writeFile(join(folder, 'commands', 'horizon'), String(clock.now()), { mode: 0o600 });
    const journal = await open();
    await expect(journal.begin(id(1), token(0))).rejects.toMatchObject({ reason: 'CommandExpired' });
    await journal.begin(id(2), token(1));
  });
});

/** A daemon on a machine whose clock is `aheadMs` off, beside a server whose clock is right. */
class Machine {
  readonly #tokens: TokenTime[] = [];
  readonly #runs = new Map<number, number>();
  /** Commands that ran twice, and new ones that were not taken: none. */
  readonly faults: string[] = [];
  #aheadMs = 0;
  #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  #serverNow(): number {
    return clock.now() - this.#aheadMs;
  }

  /** As the executor does with a token that is proven: a command that the journal takes has run. */
  async #take(number: number): Promise<'ran' | 'not taken' | 'over'> {
    const of = this.#tokens[number];
    if (of === undefined || clock.now() >= of.ends) return 'over';
    try {
      await this.#journal.begin(id(number), of);
    } catch (error) {
      if (error instanceof AppError) return 'not taken';
      throw error;
    }
    this.#runs.set(number, (this.#runs.get(number) ?? 0) + 1);
    await this.#journal.end(id(number), Buffer.from('r'));
    await this.#journal.stored([id(number)]);
    return 'ran';
  }

  /** A command that is new is taken, unless its time is over by the clock of the machine. */
  async send(lifeMs: number): Promise<void> {
    this.#tokens.push({ ends: this.#serverNow() + lifeMs, lifeMs });
    const number = this.#tokens.length - 1;
    if ((await this.#take(number)) === 'not taken') this.faults.push(`${number} was not taken`);
  }

  async repeatAll(): Promise<void> {
    for (const number of this.#tokens.keys()) await this.#take(number);
    for (const [number, runs] of this.#runs) if (runs > 1) this.faults.push(`${number} ran ${runs} times`);
  }

  async pass(ms: number): Promise<void> {
    await clock.advance(ms);
    await this.#journal.forget();
  }

  setClock(aheadMs: number): void {
    clock.step(aheadMs - this.#aheadMs);
    this.#aheadMs = aheadMs;
  }

  /** The process ends without a word; where the machine does too, its steady clock begins anew. */
  async restart(isMachine: boolean): Promise<void> {
    if (isMachine) clock = createManualClock(clock.now());
    this.#journal = await open();
  }
}

const step = fc.oneof(
  fc.constantFrom(60_000, 360_000, 6 * hour).map((ms) => (machine: Machine) => machine.send(ms)),
  fc.constantFrom(60_000, 660_001, hour, 7 * hour).map((ms) => (machine: Machine) => machine.pass(ms)),
  fc.constantFrom(0, hour, day, -hour, -day).map((ms) => async (machine: Machine) => machine.setClock(ms)),
  fc.boolean().map((isMachine) => (machine: Machine) => machine.restart(isMachine)),
  fc.constant((machine: Machine) => machine.repeatAll()),
);

it('AMB-200 whatever the clock of the machine does, a command runs once, and a new one is taken', async () => {
  const steps = fc.array(step, { minLength: 10, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      folder = await mkdtemp(join(tmpdir(), 'edge-'));
      const machine = new Machine(await open());
      for (const take of all) await take(machine);
      await machine.repeatAll();
      expect(machine.faults).toEqual([]);
      await rm(folder, { recursive: true });
    }),
    { numRuns: 60 },
  );
}, 120_000);

it('AMB-200 begins a command on the disk with the age of the journal', async () => {
  const journal = await open();
  await clock.advance(1_000);
  const of = token(60_000);
  await journal.begin(id(1), of);
  const begun = await readFile(join(folder, 'commands', `${id(1)}.begun`), 'utf8');
  expect(begun).toBe(`${of.ends}.000000000000060000000000000001000`);
});
