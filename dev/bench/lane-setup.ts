import { createPublicKey, type KeyObject } from 'node:crypto';
import process from 'node:process';
import { Registry } from 'prom-client';
import { BusConfig } from '../../lib/bus/bus-config.ts';
import { busOptions, createBusMetrics, createEventBus, type EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { parseConfig } from '../../lib/config.ts';
import type { SealVerifier } from '../../lib/envelope/index.ts';
import { type HttpApp, listen } from '../../lib/http/index.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';

/** Settings of a process of the invocation lane from its parent, as JSON in its first argument. */
interface LaneSetup {
  readonly natsUrl: string;
  /** SubjectPublicKeyInfo PEM of SEAL tokens. */
  readonly sealKey: string;
  /** Address of an upstream: the tool of the gateway's lane asks it. Without one the tool does nothing. */
  readonly upstream?: string;
}

export const laneTool = 'bench.nothing';
export const issuer = { issuer: 'windlass', audience: 'windlass-tools' } as const;

export const setupOf = (argument: string | undefined): LaneSetup => JSON.parse(argument ?? '{}') as LaneSetup;

const verifierOf = (publicKey: KeyObject): SealVerifier => ({ ...issuer, publicKey });
export const verifierIn = ({ sealKey }: LaneSetup): SealVerifier => verifierOf(createPublicKey(sealKey));

/** A connection with the settings of a process of the chart. */
export function benchBus(natsUrl: string, name: string): EventBus {
  const config = parseConfig(BusConfig, { WINDLASS_NATS_URL: natsUrl });
  const observer = createBusMetrics(new Registry());
  return createEventBus(
    { clock: systemClock, logger: silentLogger, observer, random: Math.random },
    name,
    busOptions(config),
  );
}

/** Serves until the parent is gone. */
export async function serveForParent(app: HttpApp): Promise<void> {
  const listener = await listen(app, { port: 0, host: '127.0.0.1' });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port: listener.port });
}
