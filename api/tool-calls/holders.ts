import type { EventBus } from '../../lib/bus/index.ts';
import type { Responder } from '../../lib/bus/request/requester.ts';
import type { Clock } from '../../lib/clock.ts';
import { hasReason } from '../../lib/errors.ts';
import { createSilences } from '../../lib/silences.ts';

interface HoldersDeps {
  readonly bus: Pick<EventBus, 'request' | 'serve'>;
  readonly clock: Pick<Clock, 'steadyMs'>;
  /** How long another replica has to say that it lives. Default 2,000. */
  readonly pingMs?: number;
}

/** Tells whether the replicas that have claimed calls live. */
export interface Holders {
  /** Says to the others that this one lives. */
  serve(holder: string): Responder;
  /** Whether a replica has been away for so long that it is taken for dead. Asked again and again while it has a call. */
  isLost(holder: string): Promise<boolean>;
}

/** Where a replica says that it lives. */
export const holderAddress = (holder: string) => ({ service: 'api.tool-calls', key: holder });

/**
 * A replica that has lost its connection to the bus, or whose process hangs, comes back within this time or is taken
 * for dead. Later writes of it are refused.
 */
export const lostAfterMs = 30_000;
/** How often a replica looks for calls whose holder is gone. */
export const scanMs = 5_000;
/** Looks that are further apart say nothing of the time between them: there was no call of that holder meanwhile. */
const apartMs = 2 * scanMs;

/** Replicas that are remembered as missing: those that have ended since this one began. */
const remembered = 1_000;

export function createHolders({ bus, clock, pingMs = 2_000 }: HoldersDeps): Holders {
  const silences = createSilences({ now: () => clock.steadyMs(), apartMs, remembered });
  const asked = new Map<string, Promise<boolean>>();
  /**
   * Also one whose address the server of NATS still knows, as that of a frozen process. That this replica cannot ask says
   * nothing of the other one.
   */
  const isMissing = async (holder: string): Promise<boolean> => {
    try {
      await bus.request(holderAddress(holder), 'ping', { timeoutMs: pingMs });
      return false;
    } catch (error) {
      return hasReason(error, 'NoResponders') || hasReason(error, 'RequestTimeout');
    }
  };
  const look = async (holder: string): Promise<boolean> => {
    if (await isMissing(holder)) return silences.again(holder).lastsMs >= lostAfterMs;
    silences.end(holder);
    return false;
  };
  return {
    serve: (holder) => bus.serve(holderAddress(holder), async () => 'here'),
    // A replica may have many calls, which are all looked at together.
    isLost(holder) {
      const looking = asked.get(holder) ?? look(holder).finally(() => asked.delete(holder));
      asked.set(holder, looking);
      return looking;
    },
  };
}
