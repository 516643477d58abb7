import { Command } from 'commander';
import { AppError, messageOf } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { askFacts } from '../local-socket.ts';
import { openHostState } from '../state/host-state.ts';
import type { World } from '../world.ts';
import { type EnrolledHost, type HostOptions, openHost } from './host.ts';

/** A sentence for what is well; an AppError says what is not and what to do. */
type Check = (host: EnrolledHost, world: World, folder: string) => Promise<string>;

const checks: Readonly<Record<string, Check>> = {
  token: async ({ credential }, { clock }) => {
    const left = credential.receivedAt + credential.lifeMs - clock.now();
    if (left > 0) return `good for ${Math.floor(left / 60_000)} minutes; the daemon renews it`;
    throw new AppError(
      'invalid',
      'the token is over, by the clock of this machine; check the clock, or enroll --replace',
    );
  },
  contexts: async ({ config }) => {
    const names = Object.keys(config.current.security_contexts ?? {});
    if (names.length > 0) return names.join(', ');
    throw new AppError(
      'invalid',
      'no security_contexts are configured or pushed, so every command is refused; add one to the configuration file',
    );
  },
  runner: async (_host, { runner }) => {
    if (runner !== undefined) return runner;
    throw new AppError(
      'invalid',
      'the program runner is missing, so there are no fs.* tools; set WINDLASS_EDGE_RUNNER',
    );
  },
  limits: async ({ config }, { prlimit }) => {
    const { limits = {} } = config.current;
    const set = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
    if (set.length === 0) return 'none are configured';
    if (prlimit !== undefined) return set.join(', ');
    throw new AppError(
      'invalid',
      'the program prlimit is missing, so every command is refused; install util-linux, or remove limits',
    );
  },
  daemon: async (_host, { clock }, folder) => {
    const facts = await askFacts(folder, clock);
    if (!isJsonObject(facts)) return 'none runs with this folder; windlass-edge run starts it';
    if (facts['connected'] === true) return 'it has a stream to the relay';
    const { problem } = facts;
    const cause = typeof problem === 'string' && problem !== '' ? `: ${problem}` : '';
    const againInMs = Number(facts['again_in_ms'] ?? 0);
    throw new AppError(
      'unavailable',
      `it has no stream to the relay${cause}; it tries again in ${Math.ceil(againInMs / 1_000)} s`,
    );
  },
  relay: async ({ identity }, { open }) => {
    using client = open(identity);
    if (await client.isServing()) return `${identity.endpoint} serves`;
    throw new AppError('unavailable', `${identity.endpoint} answers, and does not serve now; try again in a minute`);
  },
};

export const doctorCommand = (world: World): Command =>
  new Command('doctor')
    .summary('look for what is wrong')
    .description(
      'Checks the files, the configuration, the token, the daemon and the way to the relay; changes nothing.',
    )
    .option('--state <folder>', 'folder of the key, the token and the journal', world.stateFolder)
    .option('--config <file>', 'configuration of this host', world.configFile)
    .action(async (options: HostOptions) => {
      const host = await openHost(world, options, await openHostState(options.state, world.owner));
      world.out(`ok    files: ${options.state}, ${options.config}`);
      let wrong = 0;
      for (const [name, check] of Object.entries(checks)) {
        const line = await check(host, world, options.state).then(
          (text) => `ok    ${name}: ${text}`,
          (error: unknown) => `WRONG ${name}: ${messageOf(error)}`,
        );
        if (line.startsWith('WRONG')) wrong += 1;
        world.out(line);
      }
      if (wrong > 0)
        throw new AppError('invalid', `${wrong} of ${Object.keys(checks).length} checks found something wrong`);
    });
