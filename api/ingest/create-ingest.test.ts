import { expect, it } from 'vitest';
import type { BusEvent } from '../../lib/bus/event-bus.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createIngest } from './create-ingest.ts';

const never = (): never => {
  throw new Error('it must not be asked');
};

it('STIM-33 a tenant that is not set up has no route, even while its key is held', async () => {
  const raised: BusEvent[] = [];
  const ingest = createIngest({
    kube: { create: never, get: never },
    clock: createManualClock(),
    logger: silentLogger,
    newStimulusId: () => 's-1',
    table: {
      find: async () => ({ tenant: 'acme', namespace: undefined, routing: { confidenceThreshold: 0.7 } }),
      tenantOf: never,
    },
    workflows: { find: never },
    executions: { remember: never },
    reservations: { isTaken: never, acquire: never, renew: never, settle: never, release: never },
    deliveries: { accept: never, release: never },
    settler: { settle: never, resume: never, run: never },
    events: { raise: (event) => void raised.push(event) },
  });
  const source = { kind: 'HttpApi', name: 'my-ci' } as const;
  const submission = { source, tenant: 'acme', content: 1, idempotencyKey: 'k', headers: {}, receivedAt: 0 };
  await expect(ingest(submission)).rejects.toMatchObject({ outcome: 'no_router_configured' });
  expect(raised.map(({ type }) => type)).toEqual(['StimulusRejected']);
});
