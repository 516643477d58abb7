/**
 * The thread beside the main loop of the controllers. It renews the Lease over a connection of its own and answers
 * `/healthz`, whatever the main loop is busy with. It stops both when that has not turned for too long (ADR 0035).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../../lib/clock.ts';
import { messageOf } from '../../../lib/errors.ts';
import { createKubeClient, findCredentials } from '../../../lib/kube/index.ts';
import { createLogger } from '../../../lib/logger.ts';
import { checkPage, startHealthServer } from '../../../lib/process/health-server.ts';
import { createHeartbeat } from '../../../lib/process/heartbeat.ts';
import { createLeaseElection, type ElectionEnd, type ResumableElection } from '../lease-election.ts';
import { sharedTenure } from '../tenure.ts';
import { createAskedPages } from './asked-pages.ts';
import type { ElectionData, FromKeeper, KeeperData, ToKeeper } from './messages.ts';
import { createRightTime } from './right-time.ts';

const { heartbeat: memory, tenure, health, paths, election, silentMostMs, logLevel } = workerData as KeeperData;
const clock = systemClock;
const logger = createLogger({ level: logLevel, service: 'controllers' });
const heartbeat = createHeartbeat(memory, clock);
const release = new AbortController();
const say = (message: FromKeeper): void => parentPort?.postMessage(message);
const pages = createAskedPages(clock, (id, path) => say({ kind: 'ask', id, path }));

const silence = (): string | undefined => {
  const silentMs = heartbeat.silentMs();
  return silentMs < silentMostMs ? undefined : `the main loop has not turned for ${Math.round(silentMs / 1_000)} s`;
};

/** Says once, and not at each renewal that is left out, that the main loop is stuck. */
let isSilent = false;
function isAlive(): boolean {
  const problem = silence();
  if (problem !== undefined && !isSilent) logger.error({ problem }, 'main loop is stuck, the lease is not renewed');
  isSilent = problem !== undefined;
  return !isSilent;
}

const time = createRightTime({ logger });

async function openElection(how: 'compete' | 'resume', data: ElectionData): Promise<ResumableElection> {
  const { lease, identity, env, ...timing } = data;
  const credentials = await findCredentials({ env, now: () => clock.now() });
  const options = { userAgent: 'windlass-controllers-lease', maxRequests: 2 };
  const client = createKubeClient({ credentials, clock, skew: time }, options);
  const measure = () => client.serverVersion({ timeoutMs: timing.retryMs });
  // The first answer of all tells the time. An API server that does not answer grants no Lease either. A lease held
  // before does not wait for it.
  const first = measure().catch(() => undefined);
  if (how === 'compete') await first;
  return createLeaseElection(
    { client, clock, logger, tenure: sharedTenure(tenure), isAlive: () => isAlive() && time.isRight(measure) },
    { lease, identity, ...timing },
  );
}

async function lead(how: 'compete' | 'resume'): Promise<ElectionEnd> {
  if (election === undefined) return 'lost';
  const opened = await openElection(how, election);
  if (how === 'resume') return opened.resume(release.signal);
  return opened.run(release.signal, () => say({ kind: 'leading' }));
}

parentPort?.on('message', (message: ToKeeper) => {
  if (message.kind === 'page') return pages.take(message.id, message.page);
  if (message.kind === 'release') return release.abort();
  // An error here ends the thread, and the main loop begins another one.
  return void lead(message.kind).then((end) => say({ kind: 'ended', end }));
});

try {
  const { port } = await startHealthServer({
    ...health,
    pages: {
      '/healthz': checkPage({ loop: silence }),
      ...Object.fromEntries(paths.map((path) => [path, pages.pageOf(path)])),
    },
  });
  say({ kind: 'listening', port });
} catch (error) {
  logger.error({ problem: messageOf(error) }, 'health cannot be served');
  say({ kind: 'failed', error });
}
