import { describe, expect, it } from 'vitest';
import type { SealedCommand } from '../../../lib/edge/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { FleetCommand } from '../commands/command.ts';
import { fleetRunLimits } from '../limits.ts';
import { launch } from './launch.ts';

const command: FleetCommand = {
  commandId: 'c',
  run: 'r',
  tenant: 'acme',
  target: { node_id: 'n', host_uid: 'h', name: 'n' },
  tool: 'cmd.run',
  useArgs: async (make, task) => task(await make({})),
  securityContext: 'default',
  deadlineSecs: 60,
  author: 'ada',
};
const away = new AppError('unavailable', 'the host is offline', { reason: 'EdgeUnavailable' });
const noBus = new AppError('unavailable', 'the bus is away', { reason: 'EventBusUnavailable' });
const late = new AppError('timeout', 'no answer', { reason: 'RequestTimeout' });

interface Given {
  /** Answer to each try of claiming; the last one repeats. */
  readonly claim?: boolean | Error | readonly (boolean | Error)[];
  /** Result of each try of sending; the last one repeats. */
  readonly sends?: readonly (Error | 'ok')[];
  readonly stopAtTry?: number;
  /** The run stops while the command waits for this turn. */
  readonly stopAtTurn?: number;
  readonly overAtTry?: number;
  /** Comes while the command waits for its arguments, for so long. */
  readonly whileArgs?: 'stopped' | 'over' | 'closed';
  readonly argsMs?: number;
  /** So many readings of its arguments fail before one does not. */
  readonly unread?: number;
  /** A process before this one may have sent it. Default: true. */
  readonly mayBeSent?: boolean;
  /** Whether the turn comes. */
  readonly isTurn?: boolean;
  readonly deadlineSecs?: number;
  readonly stopAtClaim?: number;
  /** The record of an earlier claim; by default it has 60 s to its deadline. */
  readonly record?: { readonly ended?: boolean; readonly deadlineInMs?: number };
}

async function launched(given: Given) {
  const { claim = true, sends = ['ok'], stopAtTry = Infinity, overAtTry = Infinity } = given;
  const { deadlineSecs = 60, stopAtClaim = Infinity, stopAtTurn = Infinity, whileArgs } = given;
  const clock = createManualClock();
  const claims = [claim].flat();
  const { ended, deadlineInMs = 60_000 } = given.record ?? {};
  const deadline = new Date(clock.now() + deadlineInMs).toISOString();
  const goodUntil: number[] = [];
  const begun = clock.now();
  let tries = 0;
  let claimed = 0;
  const sender = {
    claim: async () => {
      const met = claims[Math.min(claimed, claims.length - 1)] ?? true;
      claimed += 1;
      if (met instanceof Error) throw met;
      return met;
    },
    recordOf: async () => ({ deadline, ...(ended === undefined ? {} : { ended }) }),
    seal: async ({ commandId }: FleetCommand, until: number) => ({ commandId, json: String(until - begun) }),
    send: async (_: FleetCommand, { json }: SealedCommand) => {
      goodUntil.push(Number(json));
      const met = sends[Math.min(tries, sends.length - 1)];
      tries += 1;
      if (met instanceof Error) throw met;
    },
  };
  const stop = new AbortController();
  const came: string[] = [];
  let [unread, isReading] = [given.unread ?? 0, false];
  const useArgs: FleetCommand['useArgs'] = async (make, task, signal) => {
    isReading = true;
    await clock.sleep(given.argsMs ?? 0, signal);
    isReading = false;
    if (whileArgs !== undefined) came.push(whileArgs);
    if (whileArgs === 'closed') stop.abort();
    signal.throwIfAborted();
    unread -= 1;
    if (unread >= 0) throw new AppError('unavailable', 'the API server is away', { reason: 'Overloaded' });
    return task(await make({}));
  };
  let noted = 0;
  let done = false;
  let held = 0;
  let turns = 0;
  let fullSince: number | undefined;
  const end = launch(
    { sender, clock },
    {
      command: { ...command, deadlineSecs, useArgs },
      stop: stop.signal,
      mayBeSent: given.mayBeSent ?? true,
      async turn() {
        if (given.isTurn === false) throw new AppError('unavailable', 'no turn', { reason: 'Overloaded' });
        held += 1;
        turns += 1;
        return { [Symbol.dispose]: () => void (held -= 1) };
      },
      isStopped: () => tries >= stopAtTry || claimed >= stopAtClaim || turns >= stopAtTurn || came.includes('stopped'),
      isOver: () => tries >= overAtTry || came.includes('over'),
      onSend: () => void (noted += 1),
      onFull: () => clock.now() - (fullSince ??= clock.now()) >= 60_000,
      onClaim: () => (fullSince = undefined),
    },
  );
  void end.then(() => (done = true));
  while (!done && clock.now() - begun < 300_000) {
    await clock.advance(500);
    // A command that waits for its host holds no turn.
    expect(isReading ? 0 : held).toBe(0);
  }
  return { end: await end, tries, claimed, goodUntil, noted, ms: clock.now() - begun };
}

describe('handing a command over', () => {
  it('claims it, then sends it', async () => {
    expect(await launched({})).toMatchObject({ end: { kind: 'sent' }, tries: 1 });
  });

  it('EDGE-REST-38 hands one that an earlier process claimed over again, under the same id', async () => {
    expect(await launched({ claim: false })).toMatchObject({ end: { kind: 'sent' }, tries: 1 });
  });

  it('EDGE-REST-38 AMB-200 sends nothing again whose record says that it has ended: its result was lost', async () => {
    const want = { kind: 'failed', result: { outcome: 'err', code: 'OutcomeUnknown' } };
    expect(await launched({ claim: false, record: { ended: true } })).toMatchObject({ end: want, tries: 0 });
    const stopped = { claim: false, record: { ended: true }, stopAtTurn: 1 };
    expect(await launched(stopped)).toMatchObject({ end: { kind: 'unsure' }, tries: 0 });
  });

  it.each([
    [1, { kind: 'sent' }, 1],
    [0, { kind: 'failed', result: { code: 'OutcomeUnknown' } }, 0],
    [-1, { kind: 'failed', result: { code: 'OutcomeUnknown' } }, 0],
  ])(
    'EDGE-REST-38 AMB-200 sends again until the first token may have ended, and not after (%i ms left)',
    async (leftMs, end, tries) => {
      const record = { deadlineInMs: leftMs - fleetRunLimits.tokenGraceMs };
      expect(await launched({ claim: false, record })).toMatchObject({ end, tries });
    },
  );

  it('EDGE-REST-38 AMB-200 lets no try give the host more time than the first one', async () => {
    const life = 60_000 + fleetRunLimits.tokenGraceMs;
    expect((await launched({ sends: [late, noBus, 'ok'] })).goodUntil).toEqual([life, life, life]);
    const again = await launched({ claim: false, sends: [late, 'ok'], record: { deadlineInMs: 20_000 } });
    expect(again.goodUntil).toEqual([320_000, 320_000]);
  });

  it('EDGE-REST-33 waits a little for a host whose stream is away, then fails with EdgeUnavailable', async () => {
    const { end, ms } = await launched({ sends: [away] });
    expect(end).toMatchObject({ kind: 'failed', result: { outcome: 'err', code: 'EdgeUnavailable' } });
    expect(ms).toBeGreaterThanOrEqual(fleetRunLimits.unreachableMs);
    expect(ms).toBeLessThan(fleetRunLimits.unreachableMs + 3_000);
    expect((await launched({ sends: [away, away, 'ok'] })).end).toEqual({ kind: 'sent' });
  });

  it('EDGE-REST-33 does not say of a host that an earlier process reached that it never ran the command', async () => {
    expect((await launched({ claim: false, sends: [away] })).end).toEqual({ kind: 'unsure' });
  });

  it('EDGE-REST-33 claims as soon as the bus is back, however short the deadline is: no host is blamed for a bus', async () => {
    const slow = Array<Error>(200).fill(noBus);
    for (const mayBeSent of [true, false]) {
      const { end, ms } = await launched({ claim: [...slow, true], mayBeSent, deadlineSecs: 1 });
      expect(end).toEqual({ kind: 'sent' });
      expect(ms).toBeGreaterThan(190_000);
    }
  });

  it('EDGE-REST-38 sends again over a slow bus after a deadline that is shorter, and leaves open what became of it', async () => {
    expect((await launched({ sends: [late, noBus, late, 'ok'], deadlineSecs: 1 })).end).toEqual({ kind: 'sent' });
    const { end, ms } = await launched({ sends: [late], deadlineSecs: 1 });
    expect(end).toEqual({ kind: 'unsure' });
    expect(ms).toBeGreaterThanOrEqual(fleetRunLimits.unreachableMs);
    expect(ms).toBeLessThan(fleetRunLimits.unreachableMs + 3_000);
  });

  it('waits for a bus that is away no longer than the deadline, and leaves open what became of the command', async () => {
    expect((await launched({ sends: [noBus, late, 'ok'] })).end).toEqual({ kind: 'sent' });
    const { end, ms } = await launched({ sends: [noBus] });
    expect(end).toEqual({ kind: 'unsure' });
    expect(ms).toBeLessThan(63_000);
  });

  it('EDGE-REST-33 EDGE-REST-38 sends again where the relay takes no order now, and says that the host never ran the command', async () => {
    const full = new AppError('unavailable', 'too many orders wait', { reason: 'Overloaded' });
    expect((await launched({ sends: [full, full, 'ok'] })).end).toEqual({ kind: 'sent' });
    const { end, ms } = await launched({ sends: [full], mayBeSent: false });
    expect(end).toMatchObject({ kind: 'failed', result: { message: 'too many orders wait' } });
    expect(ms).toBeGreaterThanOrEqual(60_000);
    expect((await launched({ sends: [full], stopAtTry: 1 })).end).toEqual({ kind: 'stopped' });
    expect((await launched({ sends: [late, full] })).end).toEqual({ kind: 'unsure' });
  });

  it.each([
    new AppError('unavailable', 'too many commands of hosts', { reason: 'BucketFull' }),
    new AppError('unavailable', 'no room', {
      reason: 'EventBusUnavailable',
      cause: Object.assign(new Error('x'), { code: 10_047 }),
    }),
  ])('EDGE-RES-26 waits a while for room for its claim, and ends with %s', async (full) => {
    const { end, ms } = await launched({ claim: full, mayBeSent: false });
    expect(end).toEqual({
      kind: 'failed',
      result: { outcome: 'err', code: 'BucketFull', message: full.message, exit_code: 0 },
    });
    expect(ms).toBeGreaterThanOrEqual(60_000);
    expect(ms).toBeLessThan(63_000);
    const late = [...Array<Error>(50).fill(full), true];
    expect((await launched({ claim: late, mayBeSent: false })).end).toEqual({ kind: 'sent' });
    // Each claim that finds room begins the time anew; the bus may be away for as long as it likes.
    const away = [full, ...Array<Error>(100).fill(noBus), true];
    expect((await launched({ claim: away, mayBeSent: false })).end).toEqual({ kind: 'sent' });
  });

  it('fails at once for what no other try can mend', async () => {
    const tooLarge = new AppError('limit_exceeded', 'too large', { reason: 'ArgumentsTooLarge' });
    expect(await launched({ sends: [tooLarge] })).toMatchObject({
      end: { kind: 'failed', result: { code: 'ArgumentsTooLarge' } },
      tries: 1,
    });
    const share = new AppError('limit_exceeded', 'share', { reason: 'KeyShareUsed' });
    expect((await launched({ claim: share })).end).toMatchObject({ kind: 'failed', result: { code: 'KeyShareUsed' } });
  });

  it('EDGE-REST-33 does not say that a host never ran a command that one of several tries may have brought to it', async () => {
    expect((await launched({ sends: [late, away] })).end).toEqual({ kind: 'unsure' });
    const tooLarge = new AppError('limit_exceeded', 'too large', { reason: 'ArgumentsTooLarge' });
    expect((await launched({ sends: [noBus, tooLarge] })).end).toEqual({ kind: 'unsure' });
  });

  it('EDGE-REST-33 a wait that ends before the command left is EdgeUnavailable, unless an earlier process may have sent it', async () => {
    const want = { kind: 'failed', result: { outcome: 'err', code: 'EdgeUnavailable' } };
    expect((await launched({ isTurn: false, mayBeSent: false })).end).toMatchObject(want);
    expect((await launched({ claim: false, sends: [away], mayBeSent: false })).end).toMatchObject(want);
  });

  it('EDGE-FLOW-11 sends nothing for a command whose outcome is known', async () => {
    expect(await launched({ overAtTry: 0 })).toMatchObject({ end: { kind: 'left' }, tries: 0 });
    expect(await launched({ sends: [away, 'ok'], overAtTry: 1 })).toMatchObject({ end: { kind: 'left' }, tries: 1 });
  });

  it('EDGE-REST-40 ends where the run stops while the host is away, and leaves open what may have got through', async () => {
    expect((await launched({ sends: [away], stopAtTry: 1 })).end).toEqual({ kind: 'stopped' });
    expect((await launched({ sends: [late], stopAtTry: 1 })).end).toEqual({ kind: 'unsure' });
  });

  it('EDGE-REST-40 ends where the run stops while the bus is away, unless an earlier process may have sent it', async () => {
    const waiting = { claim: noBus, stopAtClaim: 3 };
    expect((await launched({ ...waiting, mayBeSent: false })).end).toEqual({ kind: 'stopped' });
    expect((await launched(waiting)).end).toEqual({ kind: 'unsure' });
  });

  it('EDGE-RES-22 EDGE-REST-40 sends nothing where the run stops while the command waits for its turn to leave', async () => {
    const want = { end: { kind: 'stopped' }, tries: 0 };
    expect(await launched({ stopAtTurn: 1, mayBeSent: false })).toMatchObject({ ...want, claimed: 0 });
    expect(await launched({ stopAtTurn: 2, mayBeSent: false })).toMatchObject({ ...want, claimed: 1 });
    expect(await launched({ stopAtTurn: 3 })).toMatchObject({ end: { kind: 'sent' }, tries: 1 });
  });

  it.each([
    ['stopped', 'stopped'],
    ['over', 'left'],
    ['closed', 'left'],
  ] as const)(
    'EDGE-RES-22 EDGE-REST-40 sends and notes nothing where the run is %s while its arguments come',
    async (whileArgs, kind) => {
      const want = { end: { kind }, claimed: 1, tries: 0, noted: 0 };
      expect(await launched({ whileArgs, argsMs: 5_000, mayBeSent: false })).toMatchObject(want);
      expect(await launched({ whileArgs, mayBeSent: false })).toMatchObject(want);
    },
  );

  it('EDGE-REST-33 the wait for arguments takes nothing of the time that a host has to come back', async () => {
    const slow = { argsMs: fleetRunLimits.unreachableMs + 5_000, sends: [away, 'ok'], mayBeSent: false } as const;
    expect(await launched(slow)).toMatchObject({ end: { kind: 'sent' }, tries: 2 });
    const unread = { unread: 20, sends: [away, 'ok'], mayBeSent: false } as const;
    expect(await launched(unread)).toMatchObject({ end: { kind: 'sent' }, tries: 2, noted: 2 });
  });

  it('EDGE-REST-33 says why where its arguments cannot be read for as long as a bus is waited for', async () => {
    const { end, tries, ms } = await launched({ unread: 1_000, mayBeSent: false });
    expect(end).toMatchObject({ kind: 'failed', result: { message: 'the API server is away' } });
    expect(tries).toBe(0);
    expect(ms).toBeGreaterThanOrEqual(60_000);
    expect(ms).toBeLessThan(63_000);
  });

  it('EDGE-REST-40 finds out by the claim whether an earlier process may have sent it, where the run has stopped', async () => {
    expect(await launched({ stopAtTurn: 1 })).toMatchObject({ end: { kind: 'stopped' }, claimed: 1, tries: 0 });
    expect(await launched({ stopAtTurn: 1, claim: false })).toMatchObject({ end: { kind: 'unsure' }, tries: 0 });
  });
});
