import { afterAll, afterEach, beforeAll } from 'vitest';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { type Replica, startReplica } from './replica.ts';

type Options = Parameters<typeof startReplica>[0];

/** A NATS server for the tests of a file, and the replicas on it. */
interface Replicas extends Pick<TestBus, 'connect' | 'server'> {
  /** Starts a replica that stops after the test, on a connection of its own unless it is given one. */
  start(options: Omit<Options, 'bus'> & Partial<Pick<Options, 'bus'>>): Replica;
}

/** Call where the tests of a file begin: it starts and stops the server around them. */
export function useReplicas(): Replicas {
  let nats: TestBus;
  const open: Replica[] = [];
  beforeAll(async () => void (nats = await startTestBus()));
  afterAll(() => nats.stop());
  afterEach(async () => void (await Promise.all(open.splice(0).map((replica) => replica.stop()))));
  return {
    connect: (config, options) => nats.connect(config, options),
    get server() {
      return nats.server;
    },
    start(options) {
      const started = startReplica({ bus: nats.connect(), ...options });
      open.push(started);
      return started;
    },
  };
}
