import type { Clock } from '../lib/clock.ts';
import type { OutputReader } from '../lib/execution/output-reader.ts';
import type { KubeClient } from '../lib/kube/index.ts';
import type { FilePort } from './files.ts';
import type { Terminal } from './terminal.ts';

export const outputFormats = ['json', 'yaml', 'wide', 'name'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Options that every command takes. */
export interface GlobalOptions {
  readonly namespace?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly output?: OutputFormat;
}

/** The cluster and namespace that the user's kubeconfig and flags name. */
export interface Cluster {
  readonly kube: KubeClient;
  readonly outputs: OutputReader;
  readonly namespace: string;
}

/** What `main.ts` knows of the real world, given to every command. */
export interface World {
  readonly terminal: Terminal;
  readonly files: FilePort;
  readonly clock: Clock;
  /** Aborts at the first Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Reads the kubeconfig and connects; nothing is sent before the first call. */
  readonly connect: (options: GlobalOptions) => Promise<Cluster>;
}

/** The world as one command sees it: with its global options read. */
export interface Session extends World {
  readonly options: GlobalOptions;
  readonly format: OutputFormat | undefined;
  /** The same client and namespace every time. */
  readonly cluster: () => Promise<Cluster>;
}

/** Opens the session of one command. */
export function openSession(world: World, options: GlobalOptions): Session {
  let cluster: Promise<Cluster> | undefined;
  return {
    terminal: world.terminal,
    files: world.files,
    clock: world.clock,
    interrupted: world.interrupted,
    connect: world.connect,
    options,
    format: options.output,
    cluster: () => (cluster ??= world.connect(options)),
  };
}
