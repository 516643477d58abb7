import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { startKeeper } from '../../../controllers/runtime/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createLogger } from '../../../lib/logger.ts';

/**
 * A process with the thread that the controllers have, whose main loop is held up on demand: a line `hold MS` on standard
 * input begins one turn of that length. With a kubeconfig it competes for a Lease as well. Events are printed on
 * standard output as one JSON object a line.
 */
const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    namespace: { type: 'string', default: '' },
    identity: { type: 'string', default: '' },
    silent: { type: 'string', default: '15000' },
  },
});
const { kubeconfig, namespace, identity } = values;
const say = (happening: object): void => void process.stdout.write(`${JSON.stringify(happening)}\n`);

const keeper = await startKeeper(
  { clock: systemClock, logger: createLogger({ level: 'silent', service: 'test' }) },
  {
    file: join(import.meta.dirname, '../../../controllers/runtime/keeper/thread.ts'),
    port: 0,
    host: '127.0.0.1',
    pages: { '/readyz': () => ({ status: 200, text: 'ok\n' }) },
    logLevel: 'silent',
    silentMostMs: Number(values.silent),
    ...(kubeconfig === undefined
      ? {}
      : {
          election: {
            lease: { namespace, name: 'controllers' },
            identity,
            env: { KUBECONFIG: kubeconfig, PATH: process.env.PATH },
          },
        }),
  },
);
say({ listening: keeper.port });

const stop = new AbortController();
const ended = kubeconfig === undefined ? once(stop.signal, 'abort') : compete();

async function compete(): Promise<void> {
  say({ ended: await keeper.election.run(stop.signal, () => say({ leading: true })) });
}

/** As a decision does that takes too long: nothing of this thread runs meanwhile. */
function hold(ms: number): void {
  say({ holding: ms });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  say({ held: ms, leads: keeper.election.isLeaderNow() });
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [word, argument] = line.split(' ');
  if (word === 'hold') hold(Number(argument));
});
lines.on('close', () => stop.abort());
await ended;
await keeper.close();
process.exit(0);
