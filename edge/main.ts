#!/usr/bin/env node
import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { getAsset, isSea } from 'node:sea';
import { pathToFileURL } from 'node:url';
import { CommanderError } from 'commander';
import { systemClock } from '../lib/clock.ts';
import { createLogger } from '../lib/logger.ts';
import { createToMarkdown, markdownWorker } from '../lib/tools/web/markdown.ts';
import { createWebTools } from '../lib/tools/web/web-tools.ts';
import manifest from '../package.json' with { type: 'json' };
import { createEdgeProgram, edgeExitCodes, explainEdgeError } from './program.ts';
import { createRelayClient } from './stream/relay-client.ts';
import { createHostInfo } from './tools/host-info.ts';
import type { World } from './world.ts';

const { env } = process;
const uid = process.geteuid?.() ?? 0;

// Deprecations in our libraries, such as one about certificates of IP addresses, do not concern the machine's owner.
process.noDeprecation = true;
// A file that the daemon makes is for its owner alone, whatever the umask of its start was.
process.umask(0o077);
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupt.signal.aborted) process.exit(edgeExitCodes.failed);
    interrupt.abort();
  });
}
process.stdout.on('error', () => undefined);

// A single executable is no ES module: nothing may be awaited here.
void main().then((code) => {
  process.exitCode = code;
});

async function main(): Promise<number> {
  try {
    await createEdgeProgram(world()).parseAsync(process.argv);
    return edgeExitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? edgeExitCodes.ok : edgeExitCodes.usage;
    const { line, exitCode } = explainEdgeError(error);
    process.stderr.write(`${line}\n`);
    return exitCode;
  }
}

function world(): World {
  const clock = systemClock;
  return {
    clock,
    logger: createLogger({ level: env['WINDLASS_LOG_LEVEL'] === 'debug' ? 'debug' : 'info', service: 'edge' }),
    owner: { uid },
    pid: process.pid,
    version: manifest.version,
    hostname: hostname(),
    stateFolder:
      env['WINDLASS_EDGE_STATE'] ?? (uid === 0 ? '/var/lib/windlass-edge' : xdg('XDG_STATE_HOME', '.local/state')),
    configFile:
      env['WINDLASS_EDGE_CONFIG'] ??
      (uid === 0 ? '/etc/windlass-edge/config.yaml' : join(xdg('XDG_CONFIG_HOME', '.config'), 'config.yaml')),
    runner: findRunner(),
    prlimit: ['/usr/bin/prlimit', '/bin/prlimit', '/usr/local/bin/prlimit'].find((path) => existsSync(path)),
    stop: interrupt.signal,
    chance: Math.random,
    open: createRelayClient,
    toolRuns: (config) => {
      const web = createWebTools({
        clock,
        resolve: (host) => lookup(host, { all: true }),
        toMarkdown: createToMarkdown({ clock, workerUrl: workerUrl() }),
        permittedNetworks: config().permitted_networks ?? [],
      });
      const mounts = (): string[] => (config().mounts ?? []).map(({ path }) => path);
      return { ...web, 'host.info': createHostInfo(manifest.version, mounts) };
    },
    out: (line) => void process.stdout.write(`${line}\n`),
  };
}

function xdg(variable: string, fallback: string): string {
  return join(env[variable] ?? join(homedir(), fallback), 'windlass-edge');
}

/** The program that answers file tools: named, beside this one, or on the path. */
function findRunner(): string | undefined {
  const named = env['WINDLASS_EDGE_RUNNER'];
  const beside = [import.meta.dirname, dirname(process.execPath)].flatMap((folder) => [
    join(folder, `runner-${process.platform}-${process.arch}`),
    join(folder, 'windlass-runner'),
  ]);
  const onPath = (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'windlass-runner'));
  return [...(named === undefined ? [] : [named]), ...beside, '/usr/lib/windlass-edge/windlass-runner', ...onPath].find(
    (path) => existsSync(path),
  );
}

/**
 * Entry point of the thread that turns pages into Markdown: within a single executable, beside the bundle, or among
 * the sources.
 */
function workerUrl(): URL {
  if (isSea()) return new URL(`data:text/javascript,${encodeURIComponent(getAsset(markdownWorker.bundled, 'utf8'))}`);
  const file = join(import.meta.dirname, markdownWorker.bundled);
  return existsSync(file) ? pathToFileURL(file) : new URL(markdownWorker.source, import.meta.url);
}
