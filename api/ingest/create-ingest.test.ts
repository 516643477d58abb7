import { expect, it } from 'vitest';
import type { BusEvent } from '../../lib/bus/event-bus.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { AppError } from '../../lib/errors.ts';
import { createIngest } from './create-ingest.ts';

const never = (): never => {
  throw new Error('it must not be asked');
};

/** Parts that no stimulus here reaches. */
const unasked = () => ({
  kube: { create: never, get: never },
  clock: createManualClock(),
  logger: silentLogger,
  newStimulusId: () => 's-1',
  workflows: { find: never },
  executions: { remember: never },
  deliveries: { accept: never, release: never },
  settler: { settle: never, resume: never, run: never },
});

const source = { kind: 'HttpApi', name: 'my-ci' } as const;
const submission = { source, tenant: 'acme', content: 1, idempotencyKey: 'k', headers: {}, receivedAt: 0 };

it('STIM-33 a tenant that is not set up has no route, even while its key is held', async () => {
  const raised: BusEvent[] = [];
  const ingest = createIngest({
    ...unasked(),
    table: {
      find: async () => ({ tenant: 'acme', namespace: undefined, routing: { confidenceThreshold: 0.7 } }),
      tenantOf: never,
    },
    reservations: { isTaken: never, acquire: never, renew: never, settle: never, release: never },
    events: { raise: (event) => void raised.push(event) },
  });
  await expect(ingest(submission)).rejects.toMatchObject({ outcome: 'no_router_configured' });
  expect(raised.map(({ type }) => type)).toEqual(['StimulusRejected']);
});

it.each([
  ['keeps the key where trouble of ours interrupts the router agent', new AppError('unavailable', 'no etcd'), 0],
  [
    'gives the key back where the router agent fails',
    new AppError('terminal', 'no answer', { reason: 'ClassificationFailed' }),
    1,
  ],
])('AMB-008 %s', async (_title, failure, releases) => {
  let released = 0;
  const ingest = createIngest({
    ...unasked(),
    table: {
      find: async () => ({
        tenant: 'acme',
        namespace: 'acme',
        routing: { routerAgent: 'triage', confidenceThreshold: 0.7 },
      }),
      tenantOf: never,
    },
    reservations: {
      isTaken: never,
      acquire: async () => ({ kind: 'held', hold: { key: 'k', stimulusId: 's-1', at: 0, revision: 1 } }),
      renew: never,
      settle: never,
      release: async () => void (released += 1),
    },
    events: { raise: () => undefined },
    classifier: { classify: () => Promise.reject(failure) },
  });
  await expect(ingest(submission)).rejects.toBeInstanceOf(AppError);
  expect(released).toBe(releases);
});
