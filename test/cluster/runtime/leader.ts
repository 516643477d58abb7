import { parseArgs } from 'node:util';
import { createLeaseElection } from '../../../controllers/runtime/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { configMaps, createKubeClient, findCredentials, withFence } from '../../../lib/kube/index.ts';
import { silentLogger } from '../../support/silent-logger.ts';

/**
 * A process that competes for a Lease and, while it leads, writes as fast as it can through the fence: eight writers
 * share two connections, so that writes are always waiting for one. It prints its acts and errors on standard output,
 * one word and a number a line.
 */
const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string', default: '' },
    namespace: { type: 'string', default: '' },
    identity: { type: 'string', default: '' },
    scale: { type: 'string', default: '1' },
  },
});
const { kubeconfig, namespace, identity } = values;
const scale = Number(values.scale);

const say = (word: string, number = 0): void => void process.stdout.write(`${word} ${number}\n`);

const credentials = await findCredentials({ env: {}, now: () => Date.now(), kubeconfig });
const client = createKubeClient({ credentials, clock: systemClock }, { userAgent: identity, maxRequests: 2 });
const timing = { leaseMs: 15_000 * scale, renewMs: 10_000 * scale, retryMs: 2_000 * scale };
const election = createLeaseElection(
  {
    client: createKubeClient({ credentials, clock: systemClock }, { userAgent: identity }),
    clock: systemClock,
    logger: silentLogger,
  },
  { lease: { namespace, name: 'controllers' }, identity, ...timing },
);
const fenced = withFence(client, () => election.assertLeader());
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());

let refused = 0;

/** Writes as a reconcile does: on top of the version it has read. */
async function write(writer: number): Promise<void> {
  const ref = { namespace, name: `ledger-${writer}` };
  let resourceVersion: string | undefined;
  for (let writes = 0; !stop.signal.aborted; writes++) {
    try {
      resourceVersion ??= (await client.get(configMaps, ref)).metadata.resourceVersion;
      const patch = { metadata: { resourceVersion }, data: { [identity]: String(writes) } };
      resourceVersion = (await fenced.mergePatch(configMaps, ref, patch)).metadata.resourceVersion;
    } catch (error) {
      note(error);
      resourceVersion = undefined;
      await systemClock.sleep(20);
    }
  }
}

/** A conflict and a server that does not answer are expected; any other error is printed. */
function note(error: unknown): void {
  const code = error instanceof AppError ? error.code : 'internal';
  if (code === 'lost_leadership') refused += 1;
  else if (code !== 'conflict' && code !== 'timeout' && code !== 'unavailable') say('failed');
}

const end = await election.run(stop.signal, () => {
  say('leading');
  for (let writer = 0; writer < 8; writer++) void write(writer);
});
say(end, refused);
process.exit(end === 'lost' ? 1 : 0);
