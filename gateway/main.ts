import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { compileInTurns, validateSpec } from '../crds/validators.ts';
import { systemClock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { createOutputReader } from '../lib/execution/output-reader.ts';
import { newId } from '../lib/ids.ts';
import { createKubeClient, findCredentials } from '../lib/kube/index.ts';
import { readDocsScript } from '../lib/http/docs/read-docs-script.ts';
import { loadNodeConfig } from '../lib/node-config/index.ts';
import { gatheredOutput } from '../lib/log-output.ts';
import { createLogger } from '../lib/logger.ts';
import { collectGarbage } from '../lib/process/collect-garbage.ts';
import { createOpenApiReader, manifestWorker } from '../lib/manifest/index.ts';
import { createProcessRuntime } from '../lib/process/process-runtime.ts';
import { createServerMetrics } from '../lib/process/server-metrics.ts';
import { readGatewayConfig } from './config.ts';
import { runGateway } from './run-gateway.ts';

// As in the API: objects of one request die with it.
setFlagsFromString('--no-allocation-site-pretenuring');

/** The process of the gateway: reads the environment, makes the real things, and runs until a signal stops it. */
async function main(): Promise<number> {
  const config = readGatewayConfig(process.env);
  const clock = systemClock;
  const output = gatheredOutput(clock);
  process.once('exit', () => output.flush());
  const logger = createLogger({ level: config.WINDLASS_LOG_LEVEL, service: 'gateway', destination: output });
  const nodeConfig = loadNodeConfig(config, process.env, logger, 'mcp');
  const metrics = createServerMetrics();
  const credentials = await findCredentials({ env: process.env, now: () => clock.now() });
  const kube = createKubeClient(
    { credentials, clock, onRequest: (report) => metrics.kubeRequest(report) },
    { userAgent: 'windlass-gateway', writeTimeoutMs: 10_000 },
  );
  const runtime = createProcessRuntime({ process, clock, logger, graceMs: config.WINDLASS_GRACE_SECONDS * 1_000 });
  const openApi = createOpenApiReader({ clock, workerUrl: workerUrl() });
  try {
    return await runGateway({
      config,
      logger,
      metrics,
      clock,
      kube,
      runtime,
      outputs: createOutputReader(kube, process.env, clock),
      newId,
      nodeConfig,
      openApi,
      resolve: (host) => lookup(host, { all: true }),
      readFile: (path) => readFileSync(path, 'utf8'),
      readDocsScript: () => readDocsScript(import.meta.dirname),
      onLoaded: collectGarbage,
    });
  } finally {
    await openApi.close();
    await kube.close();
  }
}

/**
 * Entry point of the thread that reads documents: beside the bundle in the image, and in its folder where the sources
 * are.
 */
function workerUrl(): URL {
  const file = join(import.meta.dirname, manifestWorker.bundled);
  return existsSync(file) ? pathToFileURL(file) : new URL(manifestWorker.source, import.meta.url);
}

// Not by waiting for an empty event loop: the timer that bounds a graceful stop would keep it from ever being empty.
try {
  const { ApiSpec, ToolWorkflow, CliTool, Workflow } = validateSpec;
  await compileInTurns([ApiSpec, ToolWorkflow, CliTool, Workflow]);
  process.exit(await main());
} catch (error) {
  process.stderr.write(`windlass gateway: ${messageOf(error)}\n`);
  process.exit(1);
}
