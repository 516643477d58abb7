import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { type FleetProcess, type FleetServer, startFleetController } from './fleet-controller.ts';

type Options = Parameters<typeof startFleetController>[0];

/** A NATS server for the tests of a file, and the processes of the controllers on it. */
interface FleetControllers extends Pick<TestBus, 'connect'> {
  /** Verifies the tokens of their commands. */
  readonly publicKey: KeyObject;
  /** Starts a process with the module of fleet runs, on a connection of its own unless it is given one. It ends after the test. */
  readonly start: (server: FleetServer, hosts: readonly EdgeHost[], more?: Partial<Options>) => FleetProcess;
}

/** Call where the tests of a file begin: it starts and stops the server around them. */
export function useFleetControllers(): FleetControllers {
  const { privateKey: edgeKey, publicKey } = generateKeyPairSync('ed25519');
  let nats: TestBus;
  const open: FleetProcess[] = [];
  beforeAll(async () => void (nats = await startTestBus()), 60_000);
  afterAll(() => nats.stop());
  afterEach(async () => void (await Promise.all(open.splice(0).map((process) => process.kill()))));
  return {
    publicKey,
    connect: (config, options) => nats.connect(config, options),
    start(server, hosts, more = {}) {
      const process = startFleetController({ bus: nats.connect(), edgeKey, server, hosts, ...more });
      open.push(process);
      return process;
    },
  };
}
