import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { AppError, messageOf } from '../../lib/errors.ts';
import { enroll } from '../enroll.ts';
import { daemonLimits } from '../limits.ts';
import { openHostState, type RelayAddress } from '../state/host-state.ts';
import type { World } from '../world.ts';

interface EnrollOptions {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly endpoint: string;
  readonly name?: string;
  readonly ca?: string;
  readonly insecure?: boolean;
  readonly replace?: boolean;
  readonly state: string;
}

export const enrollCommand = (world: World): Command =>
  new Command('enroll')
    .summary('enroll this host with a one-time token')
    .description('Makes a key for this host, redeems a one-time enrollment token, and pins the keys of the server.')
    .option('--token <token>', 'enrollment token; better --token-file, because other users see arguments')
    .option('--token-file <file>', 'a file with the enrollment token; - is standard input')
    .requiredOption('--endpoint <host:port>', 'address of the relay')
    .option('--name <name>', 'name of the host; by default the name of the machine')
    .option('--ca <file>', 'PEM file of the authorities to trust; by default those of the system')
    .option('--insecure', 'without TLS, for a relay behind a tunnel and for trials')
    .option('--replace', 'give up the former enrollment of this host')
    .option('--state <folder>', 'folder of the key, the token and the journal', world.stateFolder)
    .action(async (options: EnrollOptions) => {
      const address = await addressOf(options);
      const token = await tokenOf(options);
      const state = await openHostState(options.state, world.owner);
      const name = options.name ?? world.hostname;
      const identity = await enroll({ ...world, state }, { address, token, name, replace: options.replace === true });
      world.out(`Enrolled as ${identity.nodeId} in the tenant ${identity.tenant}.`);
      const where = options.state === world.stateFolder ? '' : ` --state ${options.state}`;
      world.out(`State: ${options.state}. Start the daemon with: windlass-edge run${where}`);
    });

async function addressOf({ endpoint, ca, insecure = false }: EnrollOptions): Promise<RelayAddress> {
  if (!/^(\[[0-9a-fA-F:]+\]|[^\s:/]+):[0-9]{1,5}$/.test(endpoint))
    throw new AppError('invalid', `--endpoint must be host:port, such as edge.example.com:443`, { reason: 'Usage' });
  if (insecure && ca !== undefined)
    throw new AppError('invalid', '--ca and --insecure exclude each other; leave one out', { reason: 'Usage' });
  return { endpoint, insecure, ...(ca === undefined ? {} : { ca: await readText(ca) }) };
}

async function tokenOf({ token, tokenFile }: EnrollOptions): Promise<string> {
  if ((token === undefined) === (tokenFile === undefined))
    throw new AppError('invalid', 'give the enrollment token by --token or by --token-file', { reason: 'Usage' });
  return token ?? (await readText(tokenFile === '-' ? '/dev/stdin' : (tokenFile ?? ''))).trim();
}

async function readText(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).slice(0, daemonLimits.fileBytes);
  } catch (error) {
    throw new AppError('invalid', `${path} cannot be read: ${messageOf(error)}`, { reason: 'Usage', cause: error });
  }
}
