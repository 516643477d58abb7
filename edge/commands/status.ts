import { Command } from 'commander';
import { isJsonObject } from '../../lib/json-object.ts';
import { askFacts } from '../local-socket.ts';
import { openHostState } from '../state/host-state.ts';
import type { World } from '../world.ts';

interface StatusOptions {
  readonly state: string;
  readonly output?: string;
}

export const statusCommand = (world: World): Command =>
  new Command('status')
    .summary('show this host and its daemon')
    .description('Shows for which host this machine is enrolled, and what the daemon does. Shows no secrets.')
    .option('--state <folder>', 'folder of the key, the token and the journal', world.stateFolder)
    .option('-o, --output <format>', 'json for programs')
    .action(async ({ state: folder, output }: StatusOptions) => {
      const state = await openHostState(folder, world.owner);
      const [identity, credential] = [await state.identity(), await state.credential()];
      const daemon = await askFacts(folder, world.clock);
      const facts = {
        enrolled: identity !== undefined,
        ...(identity && {
          node_id: identity.nodeId,
          tenant: identity.tenant,
          name: identity.name,
          endpoint: identity.endpoint,
          enrolled_at: new Date(identity.enrolledAt).toISOString(),
        }),
        ...(credential && { token_ends: new Date(credential.receivedAt + credential.lifeMs).toISOString() }),
        running: isJsonObject(daemon),
        ...(isJsonObject(daemon) ? daemon : {}),
      };
      if (output === 'json') return world.out(JSON.stringify(facts, undefined, 2));
      for (const [name, value] of Object.entries(facts))
        world.out(`${name.padEnd(16)} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    });
