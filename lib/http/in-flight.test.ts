import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import { holdWhole } from '../../test/support/whole-body.ts';
import { bodyLimits } from './body-limits.ts';
import { createInFlight, type InFlight, type InFlightRequest } from './in-flight.ts';

/** The most bytes that the signed calls of one tenant have, while no other tenant has any. */
const share = Math.floor((bodyLimits.signed * 4) / 5);
const part = 2_097_152;

let clock: ManualClock;
let inFlight: InFlight;
beforeEach(() => {
  clock = createManualClock();
  inFlight = createInFlight(clock);
});

/** A signed call whose body came as a whole, and whose tenant is known. */
function call(tenant: string, bytes: number): InFlightRequest {
  const request = inFlight.enter('signature');
  holdWhole(request, bytes);
  request.ofTenant(tenant);
  return request;
}

const statusIn = (error: unknown): number =>
  (error as { readonly options: { readonly status?: number } }).options.status ?? 503;

function statusOf(begin: () => unknown): number {
  try {
    begin();
    return 200;
  } catch (error) {
    return statusIn(error);
  }
}

/** The status of the answer of another call of a tenant that waits as long as it may. */
async function answerOf(tenant: string, bytes: number): Promise<number> {
  const answered = Promise.resolve(call(tenant, 1).answer(bytes)).then(() => 200, statusIn);
  await clock.advance(bodyLimits.waitMs);
  return answered;
}

/** The most bytes of answers of one tenant that wait, while no other tenant's do. */
const waitingShare = Math.floor((bodyLimits.signedWaitingBytes * 4) / 5);

/** Its status as soon as it has one. */
function settledOf(answer: Promise<void> | undefined): { readonly status: number | undefined } {
  const state: { status: number | undefined } = { status: undefined };
  void Promise.resolve(answer).then(
    () => (state.status = 200),
    (error: unknown) => (state.status = statusIn(error)),
  );
  return state;
}

/** Calls that fill the share of a tenant up to so many bytes. */
function fill(tenant: string, upTo: number): InFlightRequest[] {
  return Array.from({ length: Math.floor(upTo / part) }, () => call(tenant, part));
}

describe('the bytes of signed calls', () => {
  it.each([
    [-1, 200],
    [0, 200],
    [1, 429],
  ])('of one tenant are its share of bodies and %i: %i', (more, want) => {
    fill('acme', share);
    expect(statusOf(() => call('acme', (share % part) + more))).toBe(want);
  });

  it.each([
    [-1, 200],
    [0, 200],
    [1, 429],
  ])('of one tenant are its share of bodies, with an answer of the rest and %i: %i', async (more, want) => {
    fill('acme', share);
    expect(await answerOf('acme', (share % part) + more)).toBe(want);
  });

  it('are refused in words that name the limit, its value, and whether the call has run', async () => {
    fill('acme', share);
    const most = `large bodies and answers of the signed calls of one tenant have at most ${share} bytes`;
    expect(() => call('acme', part)).toThrow(new RegExp(`${most}.*nothing has run`));
    const answer = Promise.resolve(call('acme', 1).answer(part)).catch((error: Error) => error.message);
    await clock.advance(bodyLimits.waitMs);
    expect(await answer).toMatch(new RegExp(`${most}.*the call has run`));
  });

  it('leave room for every other tenant, and come back', async () => {
    const acme = fill('acme', share);
    expect(statusOf(() => call('globex', part))).toBe(200);
    expect(await answerOf('initech', part)).toBe(200);
    expect(statusOf(() => call('acme', part))).toBe(429);
    acme[0]?.leave();
    acme[1]?.leave();
    expect(statusOf(() => call('acme', part))).toBe(200);
  });

  it('do not count as far as they are small', async () => {
    fill('acme', share);
    expect(statusOf(() => call('acme', bodyLimits.smallRawBytes))).toBe(200);
    expect(await answerOf('acme', bodyLimits.smallParsedBytes)).toBe(200);
  });

  it('leave those of strangers once their tenant is known', () => {
    fill('acme', share);
    const stranger = inFlight.enter('signature');
    expect(holdWhole(stranger, bodyLimits.raw.signature / 2)).toBe(true);
  });

  it.each<[string, string, number, number]>([
    ['acme', 'acme', waitingShare - part, part],
    ['acme', 'globex', waitingShare, bodyLimits.signedWaitingBytes - waitingShare],
  ])('of answers of %s and %s that wait have a bound, and are refused at once beyond it', async (one, two, a, b) => {
    const held = [...fill('acme', share), ...fill('globex', 6 * part)];
    const first = settledOf(call(one, 1).answer(a));
    const second = settledOf(call(two, 1).answer(b));
    const beyond = settledOf(call(two, 1).answer(bodyLimits.smallParsedBytes + 1));
    await clock.advance(0);
    expect([first.status, second.status, beyond.status]).toEqual([undefined, undefined, 429]);
    for (const request of held) request.leave();
    await clock.advance(0);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await answerOf('initech', 2 * part)).toBe(200);
  });

  it.each([
    [0, 200],
    [1, 429],
    [bodyLimits.signed, 429],
  ])('of one answer are the share of its tenant and %i, though no other tenant has any: %i', async (more, want) => {
    const answer = settledOf(call('acme', 1).answer(share + more));
    await clock.advance(0);
    expect(answer.status).toBe(want);
    expect(statusOf(() => call('globex', part))).toBe(200);
  });

  it('of an answer larger than one tenant may let wait are refused at once without room', async () => {
    fill('acme', share);
    const answer = settledOf(call('acme', 1).answer(waitingShare + 1));
    await clock.advance(0);
    expect(answer.status).toBe(429);
  });

  it('of an answer wait until another one is read', async () => {
    const [first] = fill('acme', share);
    const waiting = call('acme', 1).answer(part);
    first?.leave();
    expect(await waiting).toBeUndefined();
  });
});

describe('the bytes of pods', () => {
  const half = Math.min(bodyLimits.raw.pod, bodyLimits.parsed.pod) / 2;
  /** A request whose body came as a whole, and whose tenant is known. */
  async function ofPod(tenant: string, bytes: number): Promise<InFlightRequest> {
    const request = inFlight.enter('pod');
    if (!holdWhole(request, bytes)) throw new Error('refused as a stranger');
    await request.reserve(bytes);
    request.ofTenant(tenant);
    return request;
  }
  const statusOfPod = (tenant: string, bytes: number): Promise<number> =>
    ofPod(tenant, bytes).then(() => 200, statusIn);

  it('count to their tenant, and leave room for others and for strangers', async () => {
    for (let held = 0; held + part <= half; held += part) await ofPod('acme', part);
    expect(await statusOfPod('acme', part)).toBe(503);
    expect(await statusOfPod('globex', part)).toBe(200);
    expect(await statusOfPod('acme', bodyLimits.smallRawBytes)).toBe(200);
  });

  it('come back when the body is let go, while the request continues', async () => {
    const all: InFlightRequest[] = [];
    for (let held = 0; held + part <= half; held += part) all.push(await ofPod('acme', part));
    for (const request of all) request.dropBody();
    for (let held = 0; held + part <= half; held += part) await ofPod('acme', part);
    for (const request of all) request.leave();
    expect(await statusOfPod('acme', part)).toBe(503);
  });
});
