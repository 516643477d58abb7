import { createAbsentBus } from './absent-bus.ts';
import type { BusOptions } from './bus-config.ts';
import type { EventBus } from './event-bus.ts';
import { createNatsBus, type NatsBusDeps } from './nats-bus.ts';

/**
 * The bus of a process, whose name the server shows. Never blocks and never throws: with no options it is a bus that
 * is always away, with an unreachable server one that comes when the server does.
 */
export function createEventBus(deps: NatsBusDeps, name: string, options: BusOptions | undefined): EventBus {
  return options === undefined ? createAbsentBus(deps.clock) : createNatsBus(deps, { ...options, name });
}
