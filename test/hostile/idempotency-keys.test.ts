import { describe, expect, it } from 'vitest';
import type { KeyReservation } from '../../api/ingest/reservation.ts';
import { createReservations, type Reservations } from '../../api/ingest/reservations.ts';
import { answer } from '../../api/routes/stimuli/answer.ts';
import { refusals } from '../../api/routes/stimuli/outcomes.ts';
import { limits } from '../../crds/limits.ts';
import { createAbsentBus } from '../../lib/bus/absent-bus.ts';
import { buckets } from '../../lib/bus/index.ts';
import { toErrorReply } from '../../lib/http/error-reply.ts';
import { createManualClock } from '../support/manual-clock.ts';

const day = limits.idempotencySeconds * 1_000;
/** The share of 100,000 keys that the memory of the API holds. */
const share = 80_000;

/** The attacker may send stimuli of her tenant with as many idempotency keys as she likes, for a day. No bus is configured. */
describe('Mallory and the idempotency keys that the API remembers in its memory', () => {
  function setUp() {
    const clock = createManualClock();
    const bucket = createAbsentBus(clock).bucket<KeyReservation>(buckets.idempotency);
    const reservations = createReservations({ bucket, clock, findExecution: async () => undefined });
    return { clock, reservations };
  }

  const send = (reservations: Reservations, namespace: string, key: number) =>
    reservations.acquire({ key: `${namespace}/${key}`, namespace, stimulusId: `s-${key}` });

  async function fill(reservations: Reservations, count: number): Promise<void> {
    for (let key = 0; key < count; key += 1) await send(reservations, 'mallory', key);
  }

  /** As HTTP answers it. */
  async function refusalOf(sent: Promise<unknown>) {
    const error: unknown = await answer(sent.then(() => ({ stimulusId: 's', workflowExecutionId: 'e' }))).then(
      () => undefined,
      (refused: unknown) => refused,
    );
    return error === undefined
      ? undefined
      : toErrorReply(error, { access: 'bearer', errors: refusals, body: undefined });
  }

  it.each([
    [share - 1, undefined],
    [share, undefined],
    [share + 1, 429],
  ])('STIM-36 of her keys the one with number %i is answered %s', async (number, status) => {
    const { reservations } = setUp();
    await fill(reservations, number - 1);
    expect((await refusalOf(send(reservations, 'mallory', number)))?.status).toBe(status);
  });

  it('her refusal says when her first key ends, and she is served again then', async () => {
    const { clock, reservations } = setUp();
    await send(reservations, 'mallory', 0);
    await clock.advance(3_600_000);
    for (let key = 1; key < share; key += 1) await send(reservations, 'mallory', key);
    const refused = await refusalOf(send(reservations, 'mallory', share));
    expect(refused).toMatchObject({
      status: 429,
      body: { error: 'idempotency_share_used', code: 'idempotency_share_used' },
      headers: { 'Retry-After': String(day / 1_000 - 3_600) },
    });
    await clock.advance(day - 3_600_000);
    expect(await refusalOf(send(reservations, 'mallory', share))).toBeUndefined();
  });

  it('Ada of another tenant is served beside her, and a third one beside both', async () => {
    const { reservations } = setUp();
    await fill(reservations, share);
    for (let key = 0; key < 1_000; key += 1) await send(reservations, 'ada', key);
    await send(reservations, 'grace', 0);
    expect((await refusalOf(send(reservations, 'mallory', share)))?.status).toBe(429);
  });

  it('what was sent before is a duplicate still, whatever she has sent since', async () => {
    const { clock, reservations } = setUp();
    const { hold } = (await send(reservations, 'ada', 0)) as Extract<
      Awaited<ReturnType<Reservations['acquire']>>,
      { kind: 'held' }
    >;
    await reservations.settle(hold, 'e');
    await fill(reservations, share - 1);
    await clock.advance(day - 1);
    expect(await send(reservations, 'ada', 0)).toMatchObject({ kind: 'duplicate' });
  });
});
