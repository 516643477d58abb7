import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { ToolRuns } from '../lib/tools/toolbox.ts';
import type { LocalConfig } from './config/schema.ts';
import type { RelayAddress } from './state/host-state.ts';
import type { Owner } from './state/private-files.ts';
import type { RelayClient } from './stream/relay-client.ts';

/** The real things that commands of `windlass-edge` use; main.ts makes them. */
export interface World {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: Owner;
  /** Id of this process; people read it where a state folder is in use. */
  readonly pid: number;
  readonly version: string;
  readonly hostname: string;
  /** Where state is kept, and the configuration of the owner, unless options say otherwise. */
  readonly stateFolder: string;
  readonly configFile: string;
  /** The program that answers file tools; undefined where there is none. */
  readonly runner: string | undefined;
  /** The program that sets the limits of commands; undefined where there is none. */
  readonly prlimit: string | undefined;
  readonly stop: AbortSignal;
  readonly chance: () => number;
  readonly open: (address: RelayAddress) => RelayClient;
  /** `web.fetch` and `host.info`. */
  readonly toolRuns: (config: () => LocalConfig) => ToolRuns;
  /** Writes a line to standard output. */
  readonly out: (line: string) => void;
}
