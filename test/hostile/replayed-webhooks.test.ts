import { describe, expect, it } from 'vitest';
import { createDeliveries, type Delivery } from '../../api/ingest/deliveries.ts';
import { limits } from '../../crds/limits.ts';
import { buckets } from '../../lib/bus/index.ts';
import { createMemoryBucket } from '../../lib/bus/memory-bucket.ts';
import { AppError } from '../../lib/errors.ts';
import { createManualClock } from '../../lib/manual-clock.ts';

/** The attacker has seen one delivery: its body, signature and key. The secret is not known to her. */
const seen = { signature: 'a'.repeat(64), isBound: false, source: 'my-ci', idempotencyKey: 'k' };

function aMemory() {
  const clock = createManualClock();
  return { clock, ...createDeliveries(createMemoryBucket<Delivery>(clock, buckets.idempotency)) };
}

describe('a delivery that was seen by somebody', () => {
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
    await expect(accept({ ...seen, idempotencyKey: 'l' })).resolves.toBeUndefined();
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
  const { accept } = createDeliveries({ get: away, create: away, update: away, delete: away });

  it('a delivery with a key waits for it, and one without, which may run twice anyway, does not', async () => {
    await expect(accept(seen)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(accept({ ...seen, idempotencyKey: undefined })).resolves.toBeUndefined();
  });
});
