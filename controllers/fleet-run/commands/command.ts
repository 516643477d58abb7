import type { KeyRoom } from '../../../lib/bus/index.ts';
import type { CommandRecord, SealedCommand } from '../../../lib/edge/index.ts';
import type { FrozenTarget } from '../../../lib/fleet/run-record.ts';
import type { Args, UseArgs } from './run-arguments.ts';

/** One command of a run for one host. */
export interface FleetCommand {
  readonly commandId: string;
  /** uid of the run. */
  readonly run: string;
  readonly tenant: string;
  readonly target: FrozenTarget;
  readonly tool: string;
  readonly useArgs: UseArgs;
  readonly securityContext: string;
  readonly deadlineSecs: number;
  /** The caller who asked for the run. */
  readonly author: string;
}

/** The same with its arguments. */
export type CommandWithArgs = FleetCommand & { readonly args: Args };

/** The way to the hosts. */
export interface CommandSender {
  /**
   * False: the command was claimed before. Exactly one of several callers gets true. Throws AppError `limit_exceeded` where
   * it was not, and the tenant may claim no more, or one of which `isBusFull` is true where no tenant can.
   */
  claim(command: FleetCommand): Promise<boolean>;
  /** Whether the tenant may claim so many commands now. It claims none. */
  roomFor(tenant: string, commands: number): Promise<KeyRoom>;
  /** A command that was claimed; undefined where it was not, or that is forgotten. */
  recordOf(command: Pick<FleetCommand, 'commandId'>): Promise<Pick<CommandRecord, 'deadline' | 'ended'> | undefined>;
  /**
   * Gives it its token, and writes it down. The host takes it until `goodUntil`, in milliseconds since the epoch: no later time for a
   * later try, since a host that forgot the id refuses no token of a later time. Throws AppError `limit_exceeded` where its arguments
   * are too large.
   */
  seal(command: CommandWithArgs, goodUntil: number): Promise<SealedCommand>;
  /**
   * Hands it over to the relay that holds the host's stream. Throws AppError `unavailable` with the reason EdgeUnavailable where no
   * relay does.
   */
  send(command: FleetCommand, sealed: SealedCommand): Promise<void>;
  /** The same for a cancellation. */
  cancel(command: Pick<FleetCommand, 'commandId' | 'run' | 'tenant' | 'target'>, reason: string): Promise<void>;
}
