import { readFileSync } from 'node:fs';
import process from 'node:process';
import { systemClock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { createKubeClient, findCredentials } from '../lib/kube/index.ts';
import { gatheredOutput } from '../lib/log-output.ts';
import { createLogger } from '../lib/logger.ts';
import { createProcessRuntime } from '../lib/process/process-runtime.ts';
import { createServerMetrics } from '../lib/process/server-metrics.ts';
import { readRelayConfig } from './config.ts';
import { runRelay } from './run-relay.ts';
import { keepHeapSmall } from './small-heap.ts';

/** The process of the relay: reads the environment, makes the real things, and runs until it is to stop. */
async function main(): Promise<number> {
  const config = readRelayConfig(process.env);
  const clock = systemClock;
  const output = gatheredOutput(clock);
  process.once('exit', () => output.flush());
  const logger = createLogger({ level: config.WINDLASS_LOG_LEVEL, service: 'relay', destination: output });
  const metrics = createServerMetrics();
  const credentials = await findCredentials({ env: process.env, now: () => clock.now() });
  const kube = createKubeClient(
    { credentials, clock, onRequest: (report) => metrics.kubeRequest(report) },
    { userAgent: 'windlass-relay', writeTimeoutMs: 10_000 },
  );
  const runtime = createProcessRuntime({ process, clock, logger });
  try {
    return await runRelay({
      config,
      clock,
      logger,
      kube,
      metrics,
      runtime,
      readFile: (path) => readFileSync(path, 'utf8'),
      keepHeapSmall,
    });
  } finally {
    await kube.close();
  }
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`windlass relay: ${messageOf(error)}\n`);
  process.exit(1);
}
