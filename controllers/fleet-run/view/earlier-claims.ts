import type { HostOutcome } from '../../../lib/fleet/run-record.ts';
import type { CommandSender, FleetCommand } from '../commands/command.ts';
import { fleetRunLimits } from '../limits.ts';

interface EarlierRun {
  /** Hosts whose claims are looked for (`claimsToLookFor`). */
  readonly looks: readonly string[];
  /** Where each host is among the targets, in the order in which their commands leave. */
  readonly placeOf: (node: string) => number | undefined;
  /** Hosts that had an outcome, or were in flight, when the status was written last. */
  readonly begun: number;
  readonly maxConcurrency: number;
  /** When the first of those in flight was sent its command, in milliseconds since the epoch; undefined where none was. */
  readonly sentSince: number | undefined;
  readonly deadlineMs: number;
}

/** Commands in flight whose claims are looked for, at most. */
const openLooks = 64;

/**
 * Claims of the processes that drove a run before this one. The store of claims may be lost, or their time may be over: a claim that
 * succeeds does then not show that the command never left (ADR 0165).
 */
export class EarlierClaims {
  readonly #run: EarlierRun;
  #areThere: Promise<boolean> | undefined;

  constructor(run: EarlierRun) {
    this.#run = run;
  }

  /**
   * Until when a host may take a command that was claimed as if it had never left; undefined: it never left. Call it before the claim.
   * Throws AppError `unavailable` where the bus is away.
   */
  async goodUntil(
    sender: Pick<CommandSender, 'recordOf'>,
    command: FleetCommand,
    commandOf: (node: string) => FleetCommand,
  ): Promise<number | undefined> {
    const { begun, maxConcurrency, sentSince, deadlineMs } = this.#run;
    if (sentSince === undefined) return undefined;
    const place = this.#run.placeOf(command.target.node_id) ?? 0;
    // The status may be a second old: so many more may have left since.
    if (place >= begun + maxConcurrency) return undefined;
    if (await this.#findOnce(sender, commandOf)) return undefined;
    return sentSince + deadlineMs + fleetRunLimits.tokenGraceMs;
  }

  /** One look for all commands: afterwards this process has claims of its own. */
  #findOnce(sender: Pick<CommandSender, 'recordOf'>, commandOf: (node: string) => FleetCommand): Promise<boolean> {
    this.#areThere ??= this.#find(sender, commandOf).catch((error: unknown) => {
      this.#areThere = undefined;
      throw error;
    });
    return this.#areThere;
  }

  async #find(sender: Pick<CommandSender, 'recordOf'>, commandOf: (node: string) => FleetCommand): Promise<boolean> {
    for (const node of this.#run.looks) {
      if ((await sender.recordOf(commandOf(node))) !== undefined) return true;
    }
    return false;
  }
}

/**
 * The host of the newest command that surely left; where there is none, those whose commands may have. A store that lost its newest
 * lacks it. `records` are outcomes in the object and its record, in their order, and `begun` hosts with an outcome or in flight.
 */
export function claimsToLookFor(records: readonly HostOutcome[], begun: readonly string[]): readonly string[] {
  const ended = records.findLast(({ outcome, exit_code: exit }) => outcome === 'ok' || exit !== null);
  if (ended !== undefined) return [ended.node_id];
  const known = new Set(records.map(({ node_id: node }) => node));
  return begun.filter((node) => !known.has(node)).slice(0, openLooks);
}
