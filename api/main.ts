import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { compileInTurns, validateSpec } from '../crds/validators.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { parseConfig } from '../lib/config.ts';
import { messageOf } from '../lib/errors.ts';
import { createOutputReader } from '../lib/execution/output-reader.ts';
import { newId } from '../lib/ids.ts';
import { createKubeClient, findCredentials } from '../lib/kube/index.ts';
import { gatheredOutput } from '../lib/log-output.ts';
import { createLogger } from '../lib/logger.ts';
import { collectGarbage } from '../lib/process/collect-garbage.ts';
import { type AnswerRoom, createLargeAnswers } from '../lib/tools/web/answer-room.ts';
import { createToMarkdown, markdownWorker } from '../lib/tools/web/markdown.ts';
import { webNetworks } from '../lib/tools/web/cluster-networks.ts';
import { createWebTools } from '../lib/tools/web/web-tools.ts';
import type { ToolRuns } from '../lib/tools/toolbox.ts';
import { createManifestReader, manifestWorker } from '../lib/manifest/index.ts';
import { loadNodeConfig, type NodeConfig } from '../lib/node-config/index.ts';
import { createProcessRuntime } from '../lib/process/process-runtime.ts';
import { ApiConfig } from './config.ts';
import { readDocsScript } from '../lib/http/docs/read-docs-script.ts';
import { createServerMetrics } from '../lib/process/server-metrics.ts';
import { secretsFromEnvironment } from './routes/webhooks/secrets.ts';
import { runApi } from './run-api.ts';

// Objects of a request die with it. Where a burst lets V8 believe otherwise, it puts them among the old ones from then
// on, and whatever they refer to stays until the next full collection. That is twice the work, and twice the memory.
setFlagsFromString('--no-allocation-site-pretenuring');

/** Entry point of a thread: beside the bundle in the image, and in its folder where the sources are. */
function workerUrl({ source, bundled }: { readonly source: string; readonly bundled: string }): URL {
  const file = join(import.meta.dirname, bundled);
  return existsSync(file) ? pathToFileURL(file) : new URL(source, import.meta.url);
}

/** Addresses of this pod; those of a link are no network's of the cluster. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ address, internal }) => (internal || address.startsWith('fe80:') ? [] : [address])),
  );

/**
 * The web tools, and the room that they share with whatever else reads large answers.
 * @throws ConfigError as `webNetworks`.
 */
function webToolsOf(
  { builtin_dispatchers: dispatchers }: NodeConfig,
  clock: Clock,
): { readonly webTools: ToolRuns; readonly largeAnswers: AnswerRoom } {
  const largeAnswers = createLargeAnswers(clock);
  const search = dispatchers.find(({ name }) => name === 'web.search');
  const fetch = dispatchers.find(({ name }) => name === 'web.fetch') ?? {};
  const webTools = createWebTools({
    clock,
    room: largeAnswers,
    resolve: (host) => lookup(host, { all: true }),
    toMarkdown: createToMarkdown({ clock, workerUrl: workerUrl(markdownWorker) }),
    ...(search === undefined ? {} : { search }),
    ...webNetworks(fetch, { kubernetes: process.env['KUBERNETES_SERVICE_HOST'], own: ownAddresses() }),
  });
  return { webTools, largeAnswers };
}

/** The process of the API: reads the environment, makes the real things, and runs until a signal stops it. */
async function main(): Promise<number> {
  const config = parseConfig(ApiConfig, process.env);
  const clock = systemClock;
  const output = gatheredOutput(clock);
  process.once('exit', () => output.flush());
  const logger = createLogger({ level: config.WINDLASS_LOG_LEVEL, service: 'api', destination: output });
  const nodeConfig = loadNodeConfig(config, process.env, logger);
  const metrics = createServerMetrics();
  const credentials = await findCredentials({ env: process.env, now: () => clock.now() });
  const kube = createKubeClient(
    { credentials, clock, onRequest: (report) => metrics.kubeRequest(report) },
    // A caller waits for the answer, and would rather try again than wait for half a minute.
    { userAgent: 'windlass-api', writeTimeoutMs: 10_000 },
  );
  const runtime = createProcessRuntime({ process, clock, logger, graceMs: config.WINDLASS_GRACE_SECONDS * 1_000 });
  const outputs = createOutputReader(kube, process.env, clock);
  const manifests = createManifestReader({ clock, workerUrl: workerUrl(manifestWorker) });
  try {
    return await runApi({
      config,
      logger,
      metrics,
      clock,
      kube,
      runtime,
      newId,
      readDocsScript: () => readDocsScript(import.meta.dirname),
      webhookSecrets: secretsFromEnvironment(process.env),
      nodeConfig,
      outputs,
      manifests,
      ...webToolsOf(nodeConfig, clock),
      onLoaded: collectGarbage,
      stdin: () => process.stdin,
      readFile: (path) => readFile(path, 'utf8'),
    });
  } finally {
    await manifests.close();
    await kube.close();
  }
}

// Not by waiting for an empty event loop: the timer that bounds a graceful stop would keep it from ever being empty.
try {
  const { Workflow, Agent, Script, GitBinding } = validateSpec;
  await compileInTurns([Workflow, Agent, Script, GitBinding]);
  process.exit(await main());
} catch (error) {
  process.stderr.write(`windlass api: ${messageOf(error)}\n`);
  process.exit(1);
}
