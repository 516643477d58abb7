import { AppError } from '../errors.ts';
import type { EventBus, KeyValueBucket } from './event-bus.ts';

/** Stands where no bus is configured: what is raised goes nowhere, and what needs the bus is told so. */
export const absentBus: EventBus = {
  publish: refuse,
  raise: () => undefined,
  bucket: <T>(): KeyValueBucket<T> => ({ get: refuse, create: refuse, update: refuse, delete: refuse }),
  problem: () => 'no event bus is configured',
  close: async () => undefined,
};

async function refuse(): Promise<never> {
  throw new AppError('unavailable', 'no event bus is configured: set WINDLASS_NATS_URL', {
    reason: 'EventBusNotConfigured',
  });
}
