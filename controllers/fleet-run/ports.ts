import type { KeyRoom } from '../../lib/bus/index.ts';
import type { CommandRecord, EdgeNews, NewsPlace, SealedCommand } from '../../lib/edge/index.ts';
import type { FrozenTarget } from '../../lib/fleet/run-record.ts';
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

export interface LoggedNews extends NewsPlace {
  /** Undefined: another version wrote it. */
  readonly news: EdgeNews | undefined;
}

interface NewsQuery {
  readonly tenant: string;
  /** uid of the run. */
  readonly run: string;
  /** The place behind which it begins. */
  readonly after: number;
  /** Ends the wait for a turn to read. */
  readonly signal: AbortSignal;
}

/** Answers of hosts to the commands of a run. The first of several results of one command counts, for every reader. */
export interface NewsReader {
  /** The next news, each in a turn of the event loop of its own; none: there is no more as yet. */
  read(query: NewsQuery): AsyncIterable<LoggedNews>;
  /**
   * Whether the log has that message still. Where it has not, the message was dropped, or the store has lost its newest or is another
   * one: what came since may have a lower place.
   */
  has(query: Omit<NewsQuery, 'after'> & { readonly place: NewsPlace }): Promise<boolean>;
  /** Calls `onNews` where the run may have news, until it is disposed of. A call may be missed. */
  listen(run: string, onNews: () => void): AsyncDisposable;
}

export interface NewsWriter {
  /** Reports a result in place of a host. Resolves once it is stored; it may be reported again. */
  report(news: Extract<EdgeNews, { readonly kind: 'result' }>): Promise<void>;
}
