import type { JetStreamManager } from '@nats-io/jetstream';
import { messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { sharesAbove } from '../shares-above.ts';
import { headBytes } from './limits.ts';

/** Part of the bound that tenants fill. The rest is for what comes until the shares are taken anew. */
const filled = 0.8;

/** Shares are taken anew when this process has published so much of the bound, and until then it publishes so much at most. */
const anewAfter = 1 / 128;
const aheadAtMost = 1 / 32;

/** Several streams, one for each tenant, that share one bound of bytes. */
interface TenantStreams {
  /** Every subject of all of them, and of no other stream. */
  readonly subjects: string;
  readonly maxBytes: number;
}

/**
 * Keeps the logs of one tenant from displacing those of another: a tenant above its share loses its own oldest
 * messages.
 */
export interface TenantShares {
  /** A body of so many bytes is to be published. Waits where too much was since the shares were taken. Never rejects. */
  admit(bytes: number): Promise<void> | undefined;
}

interface TenantSharesDeps {
  readonly streams: Pick<JetStreamManager['streams'], 'list' | 'purge'>;
  readonly logger: Logger;
}

/** The bytes of all streams are asked for by the first message, and again as bytes are published. */
export function createTenantShares(deps: TenantSharesDeps, shared: TenantStreams): TenantShares {
  const { maxBytes } = shared;
  // As if much had been published: another process may have left too much.
  let since = maxBytes * anewAfter;
  let refreshing: Promise<void> | undefined;
  let isToldOf = false;

  const takeAnew = async (): Promise<void> => {
    const counted = since;
    try {
      await trim(deps, shared);
    } catch (error) {
      // Where the server does not let us take messages out, it says so each time.
      if (!isToldOf)
        deps.logger.warn({ subjects: shared.subjects, problem: messageOf(error) }, 'shares of tenants not taken');
      isToldOf = true;
    } finally {
      since -= counted;
    }
  };
  const refresh = (): Promise<void> => (refreshing ??= takeAnew().finally(() => (refreshing = undefined)));
  return {
    admit(bytes) {
      const isAhead = since > maxBytes * aheadAtMost;
      if (since + bytes >= maxBytes * anewAfter) void refresh();
      if (isAhead) return refresh().then(() => this.admit(bytes));
      since += bytes + headBytes;
      return undefined;
    },
  };
}

/** Takes the oldest messages out of the streams that hold more than their share. */
async function trim({ streams }: TenantSharesDeps, { subjects, maxBytes }: TenantStreams): Promise<void> {
  const states = new Map<string, { readonly messages: number; readonly bytes: number }>();
  for await (const { config, state } of streams.list(subjects)) states.set(config.name, state);
  const usage = new Map([...states].map(([name, { bytes }]) => [name, bytes]));
  for (const [name, share] of sharesAbove(usage, Math.floor(maxBytes * filled))) {
    const { messages, bytes } = states.get(name) ?? { messages: 0, bytes: 1 };
    // NATS takes a 0 for all messages, and an empty log looks like one in which nothing has begun.
    await streams.purge(name, { keep: Math.max(1, Math.floor((messages * share) / bytes)) });
  }
}
