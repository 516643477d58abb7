import type { Clock } from '../lib/clock.ts';
import type { Backend } from './backends/backend.ts';
import type { GatewayBackend } from './backends/tool-gateway/backend.ts';
import type { CliCluster } from './backends/kubernetes/deps.ts';
import type { FilePort, FileWriter, InputPort } from './files.ts';
import type { Accounts } from './login/accounts.ts';
import type { Terminal } from './terminal.ts';

export const outputFormats = ['json', 'yaml', 'wide', 'name'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Options that every command takes. */
export interface GlobalOptions {
  readonly namespace?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly server?: string;
  readonly tenant?: string;
  readonly tokenFile?: string;
  /** Dependencies of commands for the tool gateway. */
  readonly gateway?: string;
  readonly output?: OutputFormat;
}

/** The real world as `main.ts` passes it to every command. */
export interface CommandWorld {
  readonly terminal: Terminal;
  readonly files: FilePort & FileWriter & InputPort;
  readonly clock: Clock;
  /** Aborts at the first Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Finds out where the options lead and prepares for it; nothing is sent before the first call. */
  readonly open: Backends;
}

/** Where the options lead. */
export interface Backends {
  readonly backend: (options: GlobalOptions) => Promise<Backend>;
  /** For commands that need rights in the cluster. Throws a usage error where the options lead elsewhere. */
  readonly cluster: (options: GlobalOptions) => Promise<CliCluster>;
  /** The tool gateway. Throws a usage error where nothing says where it is. */
  readonly gateway: (options: GlobalOptions) => Promise<GatewayBackend>;
  /** The server that the options lead to. Throws a usage error where they lead to Kubernetes. */
  readonly server: (options: GlobalOptions) => string;
  readonly accounts: () => Promise<Accounts>;
}

/** The world as one command sees it: with its global options read. */
export interface CommandContext extends CommandWorld {
  readonly options: GlobalOptions;
  readonly format: OutputFormat | undefined;
  /** The same each time. */
  readonly backend: () => Promise<Backend>;
  readonly cluster: () => Promise<CliCluster>;
  readonly gateway: () => Promise<GatewayBackend>;
}

/** Makes the context of one command. */
export function createCommandContext(world: CommandWorld, options: GlobalOptions): CommandContext {
  let backend: Promise<Backend> | undefined;
  return {
    ...world,
    options,
    format: options.output,
    backend: () => (backend ??= world.open.backend(options)),
    cluster: () => world.open.cluster(options),
    gateway: () => world.open.gateway(options),
  };
}
