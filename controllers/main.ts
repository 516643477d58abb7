import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { systemClock } from '../lib/clock.ts';
import { compileInTurns } from '../crds/validators.ts';
import { parseConfig } from '../lib/config.ts';
import { messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { createKubeClient, findCredentials } from '../lib/kube/index.ts';
import { createLogger } from '../lib/logger.ts';
import { loadNodeConfig } from '../lib/node-config/index.ts';
import { collectGarbage } from '../lib/process/collect-garbage.ts';
import { createProcessRuntime } from '../lib/process/process-runtime.ts';
import { ControllersConfig } from './config.ts';
import { runManager } from './manager.ts';
import { modules } from './modules.ts';
import { createMetrics } from './runtime/index.ts';
import { reconcileValidators } from './validators.ts';

/** The thread beside the main loop: beside the bundle in the image, and in its folder where the sources are. */
function keeperFile(): string {
  const bundled = join(import.meta.dirname, 'controllers-keeper.js');
  return existsSync(bundled) ? bundled : join(import.meta.dirname, 'runtime/keeper/thread.ts');
}

/** The process of the controllers: reads the environment, makes the real things, and runs until a signal stops it. */
async function main(): Promise<number> {
  const config = parseConfig(ControllersConfig, process.env);
  const logger = createLogger({ level: config.WINDLASS_LOG_LEVEL, service: 'controllers' });
  const nodeConfig = loadNodeConfig(config, process.env, logger);
  const metrics = createMetrics();
  const clock = systemClock;
  const credentials = await findCredentials({ env: process.env, now: () => clock.now() });
  const kube = createKubeClient(
    { credentials, clock, onRequest: (report) => metrics.apiRequest(report) },
    { userAgent: 'windlass-controllers' },
  );
  const runtime = createProcessRuntime({ process, clock, logger });
  const identity = `${config.WINDLASS_POD_NAME ?? hostname()}-${process.pid}-${newId()}`;
  try {
    return await runManager(
      {
        config,
        nodeConfig,
        logger,
        metrics,
        clock,
        kube,
        runtime,
        identity,
        newId,
        onLoaded: collectGarbage,
        keeper: { file: keeperFile(), env: { ...process.env } },
      },
      modules,
    );
  } finally {
    await kube.close();
  }
}

// Not by waiting for an empty event loop: the timer that bounds a graceful stop would keep it from ever being empty.
try {
  await compileInTurns(reconcileValidators);
  process.exit(await main());
} catch (error) {
  process.stderr.write(`windlass controllers: ${messageOf(error)}\n`);
  process.exit(1);
}
