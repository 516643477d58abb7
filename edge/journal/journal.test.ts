import { execFile } from 'node:child_process';
import { linkSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { daemonLimits } from '../limits.ts';
import { openJournal } from './journal.ts';

const owner = { uid: process.geteuid?.() ?? 0 };
let folder: string;
let clock = createManualClock();
const open = () => openJournal(join(folder, 'commands'), { clock, owner });
const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
/** A token that is issued now, and ends so many milliseconds later. */
const token = (lifeMs: number) => ({ ends: clock.now() + lifeMs, lifeMs });
const text = async (result: Promise<Uint8Array | undefined>): Promise<string | undefined> =>
  result.then((bytes) => bytes && Buffer.from(bytes).toString());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edge-'));
  clock = createManualClock();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the journal', () => {
  it('takes an id once, also after a restart', async () => {
    const first = await open();
    await first.begin(id(1), token(60_000));
    await expect(first.begin(id(1), token(60_000))).rejects.toMatchObject({ code: 'already_exists' });
    const second = await open();
    expect(second.begun()).toEqual([id(1)]);
    await expect(second.begin(id(1), token(60_000))).rejects.toMatchObject({ code: 'already_exists' });
  });

  it('takes an id once of two that come at the same time', async () => {
    const journal = await open();
    const both = await Promise.allSettled([1, 2].map(() => journal.begin(id(1), token(1))));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('keeps results until they are stored, the oldest first, and the ids beyond that', async () => {
    const journal = await open();
    for (const number of [2, 1]) {
      await journal.begin(id(number), token(60_000));
      await journal.end(id(number), Buffer.from(`r${number}`));
    }
    const again = await open();
    expect([...again.waiting()].toSorted()).toEqual([id(1), id(2)]);
    expect(await text(again.result(id(2)))).toBe('r2');
    await again.stored([id(2), id(9)]);
    expect(await text(again.result(id(2)))).toBeUndefined();
    expect((await open()).waiting()).toEqual([id(1)]);
    expect((await open()).stateOf(id(2))).toBe('stored');
  });

  it('forgets what is stored once its token is over, and takes no token as old as that', async () => {
    const journal = await open();
    const ends = clock.now() + 60_000;
    await journal.begin(id(1), { ends, lifeMs: 60_000 });
    await journal.end(id(1), Buffer.from('r'));
    await journal.stored([id(1)]);
    await clock.advance(60_000 + 300_000);
    await journal.forget();
    expect(journal.stateOf(id(1))).toBe('stored');
    await clock.advance(1);
    await journal.forget();
    expect(journal.stateOf(id(1))).toBeUndefined();
    expect(await readdir(join(folder, 'commands'))).toEqual(['age', 'horizon']);
    // A clock that jumped back makes the old token valid again.
    clock = createManualClock(ends - 30_000);
    const later = await open();
    await expect(later.begin(id(1), { ends, lifeMs: 60_000 })).rejects.toMatchObject({ reason: 'CommandExpired' });
    await later.begin(id(2), { ends: ends + 1, lifeMs: 60_000 });
  });

  it('remembers an id as long as its token is good, also after a restart', async () => {
    clock = createManualClock(Date.now());
    const lifeMs = 10 * daemonLimits.refusedMs;
    const first = await open();
    await first.begin(id(1), token(lifeMs));
    await first.end(id(1), Buffer.from('r'));
    await first.stored([id(1)]);
    const second = await open();
    await clock.advance(lifeMs);
    await second.forget();
    expect(second.stateOf(id(1))).toBe('stored');
    await clock.advance(300_001);
    await second.forget();
    expect(second.stateOf(id(1))).toBeUndefined();
  });

  it('never forgets an undelivered result, nor a command without one', async () => {
    const journal = await open();
    await journal.begin(id(1), token(0));
    await journal.end(id(1), Buffer.from('r'));
    await journal.begin(id(2), token(0));
    await clock.advance(1e9);
    await journal.forget();
    expect([journal.stateOf(id(1)), journal.stateOf(id(2))]).toEqual(['result', 'begun']);
  });

  it('remembers a refused command for a while', async () => {
    const journal = await open();
    await journal.end(id(1), Buffer.from('no'));
    await expect(journal.begin(id(1), token(1))).rejects.toMatchObject({ code: 'already_exists' });
    expect((await open()).waiting()).toEqual([id(1)]);
  });

  it.each([
    ['acknowledged', 'this host remembers 10000 commands'],
    ['not acknowledged', 'results that no server has acknowledged'],
  ])('takes no command beyond those that it remembers, and says why where all are %s', async (what, why) => {
    const { journalEntries: most } = daemonLimits;
    await mkdir(join(folder, 'commands'), { recursive: true, mode: 0o700 });
    const state = what === 'acknowledged' ? 'stored' : 'result';
    const path = (number: number) => join(folder, 'commands', `${id(number)}.${state}`);
    writeFileSync(path(1), '', { mode: 0o600 });
    // Names of one file: ten thousand files take a disk seconds.
    for (let number = 2; number < most; number += 1) linkSync(path(1), path(number));
    const journal = await open();
    await journal.begin(id(most), token(60_000));
    if (state === 'result') await journal.end(id(most), Buffer.from('r'));
    await expect(journal.begin(id(most + 1), token(60_000))).rejects.toMatchObject({
      reason: 'JournalFull',
      message: expect.stringContaining(why),
    });
  });

  it('takes no command beyond the bytes of results that it may keep', async () => {
    const journal = await open();
    await journal.begin(id(1), token(0));
    await journal.end(id(1), Buffer.alloc(daemonLimits.journalBytes - 1));
    await journal.begin(id(2), token(0));
    await journal.end(id(2), Buffer.alloc(1));
    await expect(journal.begin(id(3), token(0))).rejects.toMatchObject({ reason: 'JournalFull' });
    await journal.stored([id(1)]);
    await journal.begin(id(3), token(0));
  });
});

/** Starts the program that takes two commands, killed at its change of the disk of that number. */
async function runKilled(commands: string, killAt: number, moment: Kill['moment']): Promise<string> {
  const program = join(import.meta.dirname, '../../test/edge/journal-program.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, commands, String(killAt), moment]).catch(
    (error: { readonly stdout: string }) => error,
  );
  return stdout;
}

interface Kill {
  readonly at: number;
  readonly moment: 'before' | 'within';
}

/** Each change of the disk, and the writes among them once more: they alone have a within. */
function killsOf(output: string): Kill[] {
  const changes = Number(/changes (\d+)/.exec(output)?.[1]);
  const writes = /writes ([\d ]+)/.exec(output)?.[1]?.split(' ').map(Number) ?? [];
  return [
    ...Array.from({ length: changes }, (_, index) => ({ at: index + 1, moment: 'before' as const })),
    ...writes.map((at) => ({ at, moment: 'within' as const })),
  ];
}

/** Programs that run at a time: most of each is the start of its process. */
const atOnce = 4;

/** The next process's action on each command: the interrupted one has no known outcome, a new one would run. */
async function goOn(commands: string): Promise<{ readonly interrupted: number; readonly wouldRun: number }> {
  const journal = await openJournal(commands, { clock: createManualClock(Date.now()), owner });
  const interrupted = journal.begun();
  const wouldRun = [id(1), id(2)].filter((command) => journal.stateOf(command) === undefined).length;
  for (const command of journal.waiting()) expect(await text(journal.result(command))).toBe('Ok');
  return { interrupted: interrupted.length, wouldRun };
}

describe('AMB-200 a daemon that is killed at a change of its journal', () => {
  it('runs no command twice and loses none, whichever change it is', async () => {
    const kills = killsOf(await runKilled(join(folder, 'whole'), 0, 'before'));
    expect(kills.filter(({ moment }) => moment === 'before').length).toBeGreaterThan(15);
    expect(kills.filter(({ moment }) => moment === 'within').length).toBeGreaterThan(3);
    const killNext = async (): Promise<void> => {
      for (let kill = kills.pop(); kill !== undefined; kill = kills.pop()) {
        const commands = join(folder, `${kill.moment}-${kill.at}`);
        const output = await runKilled(commands, kill.at, kill.moment);
        expect(output).not.toContain('changes');
        const ran = output.split('ran').length - 1;
        const { interrupted, wouldRun } = await goOn(commands);
        expect(ran + wouldRun).toBeLessThanOrEqual(2);
        expect(ran + wouldRun + interrupted).toBeGreaterThanOrEqual(2);
        expect(interrupted).toBeLessThanOrEqual(1);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, killNext));
  }, 120_000);

  it('EDGE-FLOW-11 holds a result that the disk does not take, and writes it once there is room', async () => {
    const journal = await open();
    for (const number of [1, 2]) await journal.begin(id(number), token(60_000));
    const away = join(folder, 'away');
    await rename(join(folder, 'commands'), away);
    for (const number of [1, 2]) expect(await journal.end(id(number), Buffer.from('r'))).toBe(false);
    expect(await text(journal.result(id(1)))).toBe('r');
    expect(journal.waiting()).toEqual([id(1), id(2)]);
    await expect(journal.forget()).rejects.toThrow('ENOENT');
    await journal.stored([id(2)]);
    await rename(away, join(folder, 'commands'));
    await journal.forget();
    const again = await open();
    expect([again.stateOf(id(1)), again.stateOf(id(2))]).toEqual(['result', 'stored']);
    expect(await text(again.result(id(1)))).toBe('r');
  });

  it('takes an id again that the disk did not take, and none that another process has begun', async () => {
    const [journal, other] = [await open(), await open()];
    await rename(join(folder, 'commands'), join(folder, 'away'));
    await expect(journal.begin(id(1), token(60_000))).rejects.toThrow('ENOENT');
    await rename(join(folder, 'away'), join(folder, 'commands'));
    await journal.begin(id(1), token(60_000));
    await expect(other.begin(id(1), token(60_000))).rejects.toMatchObject({ code: 'already_exists' });
  });

  it('keeps refusals up to half of its size, so that they leave room for what runs', async () => {
    const journal = await open();
    const result = Buffer.alloc(daemonLimits.journalBytes / 4);
    for (const number of [1, 2]) await journal.refuse(id(number), result);
    await expect(journal.refuse(id(3), Buffer.from('r'))).rejects.toMatchObject({ reason: 'JournalFull' });
    expect(journal.stateOf(id(3))).toBeUndefined();
    await journal.begin(id(4), token(60_000));
    expect(await journal.end(id(4), Buffer.from('r'))).toBe(true);
  });
});
