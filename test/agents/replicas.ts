import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { fasterClock } from '../support/faster-clock.ts';
import { type Replica, startReplica } from './replica.ts';

type Options = Parameters<typeof startReplica>[0];

/** A NATS server for the tests of a file, and the replicas on it. */
interface Replicas extends Pick<TestBus, 'connect' | 'connected' | 'server'> {
  /** Starts a replica that stops after the test, on a connection of its own unless it is given one. */
  start(options: Omit<Options, 'bus'> & Partial<Pick<Options, 'bus'>>): Replica;
  /** The same on a clock whose sleeps take a tenth of their time, for tests of an order of acts. */
  startFast(options: Omit<Options, 'bus'> & Partial<Pick<Options, 'bus'>>): Replica;
}

/**
 * Call where the tests of a file begin: it starts and stops the server around them. Replicas of tests that run at the same time
 * stop behind the last test: they share no execution.
 */
export function useReplicas({ areConcurrent = false } = {}): Replicas {
  let nats: TestBus;
  const open: Replica[] = [];
  const stopAll = async () => void (await Promise.all(open.splice(0).map((replica) => replica.stop())));
  beforeAll(async () => void (nats = await startTestBus()));
  afterAll(async () => {
    await stopAll();
    await nats.stop();
  });
  // By itself Vitest forgets the calls of all mocks where any test begins. It takes the setting back behind the file.
  if (areConcurrent) vi.setConfig({ clearMocks: false });
  else afterEach(stopAll);
  const start: Replicas['start'] = (options) => {
    const started = startReplica({ bus: nats.connect(), ...options });
    open.push(started);
    return started;
  };
  return {
    connect: (config, options) => nats.connect(config, options),
    connected: () => nats.connected(),
    get server() {
      return nats.server;
    },
    start,
    startFast: (options) => start({ clock: fasterClock, ...options }),
  };
}
