import { type BusConfig, busOptions } from '../../lib/bus/bus-config.ts';
import { type BusObserver, createEventBus, type EventBus } from '../../lib/bus/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { silentLogger } from '../support/silent-logger.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';

/** A nats-server of its own, and buses that are connected to it. */
export interface TestBus {
  readonly server: NatsServer;
  /** Another connection, as another process would have it. Calls fail that come half a second before it is there. */
  connect(config?: Partial<BusConfig>, options?: TestBusOptions): EventBus;
  /** The same, once it is there. */
  connected(): Promise<EventBus>;
  stop(): Promise<void>;
}

interface TestBusOptions {
  readonly observer?: Partial<BusObserver>;
  readonly logger?: Logger;
  readonly clock?: Clock;
}

export async function startTestBus(): Promise<TestBus> {
  const server = await startNatsServer();
  const open: EventBus[] = [];
  const connect: TestBus['connect'] = (
    config = {},
    { observer = {}, logger = silentLogger, clock = systemClock } = {},
  ) => {
    const deps = { clock, logger, observer: { ...noObserver, ...observer }, random: Math.random };
    const bus = createEventBus(deps, 'test', busOptions({ ...small, WINDLASS_NATS_URL: server.url, ...config }));
    open.push(bus);
    return bus;
  };
  return {
    server,
    connect,
    async connected() {
      const bus = connect();
      while (bus.problem() !== undefined) await systemClock.sleep(10);
      return bus;
    },
    async stop() {
      await Promise.all(open.map((bus) => bus.close(0)));
      await server.stop();
    },
  };
}

const noObserver = {
  connected: () => undefined,
  called: () => undefined,
  waiting: () => undefined,
  dropped: () => undefined,
  delivered: () => undefined,
  answered: () => undefined,
};

const small = {
  WINDLASS_NATS_REPLICAS: 1,
  WINDLASS_EVENTS_MAX_AGE_HOURS: 24,
  WINDLASS_EVENTS_MAX_MB: 64,
  WINDLASS_AUDIT_MAX_AGE_HOURS: 48,
  WINDLASS_AUDIT_MAX_MB: 64,
  WINDLASS_CONVERSATIONS_MAX_MB: 64,
  WINDLASS_EDGE_RESULTS_MAX_MB: 64,
  WINDLASS_KEYS_MAX_MB: 64,
};
