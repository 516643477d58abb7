import { describe, expect, it } from 'vitest';
import { createIngest } from '../../api/ingest/create-ingest.ts';
import { createDeliveries, type AcceptedDelivery } from '../../api/ingest/deliveries.ts';
import { limits } from '../../crds/limits.ts';
import { buckets } from '../../lib/bus/index.ts';
import { createMemoryBucket } from '../../lib/bus/kv/memory-bucket.ts';
import { AppError } from '../../lib/errors.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { silentLogger } from '../support/silent-logger.ts';

/** The attacker has seen one delivery: its body, signature and key. The secret is not known to her. */
const seen = { signature: 'a'.repeat(64), isBound: false, source: 'my-ci', idempotencyKey: 'k', tenant: 'acme' };

function aMemory() {
  const clock = createManualClock();
  return { clock, ...createDeliveries(createMemoryBucket<AcceptedDelivery>(clock, buckets.idempotency)) };
}

describe('a delivery that an attacker has seen', () => {
  it.each([
    ['another key', { idempotencyKey: 'l' }],
    ['no key', { idempotencyKey: undefined }],
    ['another source', { source: 'my.ci' }],
    ['another source and key, cut at another place', { source: 'my-cik', idempotencyKey: '' }],
  ])('STIM-15 STIM-25 does not pass again under %s', async (_title, change) => {
    const { accept } = aMemory();
    await accept(seen);
    await expect(accept({ ...seen, ...change })).rejects.toMatchObject({ outcome: 'signature_reused' });
  });

  it('passes again under its own source and key, for its sender may not have got the answer', async () => {
    const { accept } = aMemory();
    await accept(seen);
    await expect(accept(seen)).resolves.toBeUndefined();
  });

  it('STIM-36 is forgotten with its key', async () => {
    const { accept, clock } = aMemory();
    await accept(seen);
    await clock.advance(limits.idempotencySeconds * 1_000 + 1);
    await expect(accept({ ...seen, idempotencyKey: 'l' })).resolves.toBeDefined();
  });

  it('passes under each key that its sender signed, and then under no other that is not', async () => {
    const { accept } = aMemory();
    await accept({ ...seen, isBound: true });
    await accept({ ...seen, isBound: true, idempotencyKey: 'l' });
    await expect(accept({ ...seen, idempotencyKey: 'm' })).rejects.toMatchObject({ outcome: 'signature_reused' });
  });
});

describe('while the store is away', () => {
  const away = async (): Promise<never> => {
    throw new AppError('unavailable', 'away');
  };
  const { accept } = createDeliveries({
    get: away,
    create: away,
    update: away,
    note: () => undefined,
    delete: away,
    roomFor: away,
  });

  it('a delivery with a key waits for it, and one without, which may run twice anyway, does not', async () => {
    await expect(accept(seen)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(accept({ ...seen, idempotencyKey: undefined })).resolves.toBeUndefined();
  });
});

describe('a delivery that was refused', () => {
  it('may come again under another key once it is released, but not while it is accepted', async () => {
    const { accept, release } = aMemory();
    const entry = await accept(seen);
    expect(await accept(seen)).toBeUndefined();
    if (entry !== undefined) await release(entry);
    await expect(accept({ ...seen, idempotencyKey: 'l' })).resolves.toBeDefined();
    if (entry !== undefined) await release(entry);
    await expect(accept(seen)).rejects.toMatchObject({ outcome: 'signature_reused' });
  });

  it.each([undefined, 'k'])('is forgotten where nothing routes it (key %s)', async (idempotencyKey) => {
    const clock = createManualClock();
    const deliveries = createDeliveries(createMemoryBucket<AcceptedDelivery>(clock, buckets.idempotency));
    const never = (): never => {
      throw new Error('it must not be asked');
    };
    const ingest = createIngest({
      kube: { create: never, get: never },
      clock,
      logger: silentLogger,
      newStimulusId: () => 's-1',
      table: {
        find: async () => ({ tenant: 'acme', namespace: undefined, routing: { confidenceThreshold: 0.7 } }),
        tenantOf: never,
      },
      workflows: { find: never },
      executions: { remember: never },
      reservations: { isTaken: never, acquire: never, renew: never, settle: never, release: never },
      deliveries,
      settler: { settle: never, resume: never, run: never },
      events: { raise: () => undefined },
    });
    const source = { kind: 'HttpApi', name: 'my-ci' } as const;
    const signed = { signature: seen.signature, isBound: false };
    const submission = { source, tenant: 'acme', content: 1, headers: {}, receivedAt: 0, idempotencyKey, signed };
    await expect(ingest(submission)).rejects.toMatchObject({ outcome: 'no_router_configured' });
    await expect(deliveries.accept({ ...seen, source: 'another' })).resolves.toBeDefined();
  });
});
