import { join } from 'node:path';
import { Command } from 'commander';
import { AppError } from '../../lib/errors.ts';
import { createDaemon } from '../daemon.ts';
import { openJournal } from '../journal/journal.ts';
import { serveFacts } from '../local-socket.ts';
import { lockFolder } from '../state/folder-lock.ts';
import { openHostState } from '../state/host-state.ts';
import { createHostTools } from '../tools/host-tools.ts';
import type { World } from '../world.ts';
import { type HostOptions, openHost } from './host.ts';

export const runCommand = (world: World): Command =>
  new Command('run')
    .summary('run the daemon')
    .description('Keeps a stream to the relay and runs the commands that it brings, until it is stopped.')
    .option('--state <folder>', 'folder of the key, the token and the journal', world.stateFolder)
    .option('--config <file>', 'configuration of this host', world.configFile)
    .action(async (options: HostOptions) => run(world, options));

async function run(world: World, options: HostOptions): Promise<void> {
  const { clock, owner, runner, prlimit } = world;
  const state = await openHostState(options.state, owner);
  // Before the files are read: a daemon that ends may replace the key until then.
  using _lock = lockFolder(options.state, world.pid);
  const host = await openHost(world, options, state);
  const journal = await openJournal(join(options.state, 'commands'), { clock, owner });
  const current = () => host.config.current;
  const tools = createHostTools({ clock, config: current, runner, prlimit, runs: world.toolRuns(current) });
  const logger = world.logger.child({ nodeId: host.identity.nodeId });
  const daemon = createDaemon({ ...world, ...host, logger, journal, tools });
  await using _ = await serveFacts(options.state, () => daemon.facts());
  logger.info({ version: world.version, tools: tools.names }, 'daemon started');
  const end = await daemon.run(world.stop);
  logger.info({ end }, 'daemon ended');
  if (end === 'revoked')
    throw new AppError('forbidden', 'this host is revoked; enroll it again with enroll --replace to use it', {
      reason: 'Revoked',
    });
}
