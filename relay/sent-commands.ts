import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import type { ClaimedCommand, HostRequest, RecentCommands } from '../lib/edge/index.ts';

/** A command that this relay has written to a stream of its host. */
export interface SentCommand {
  readonly tenant: string;
  readonly nodeId: string;
  /** As its sender has claimed it; undefined where the sender does not know. */
  readonly claim: ClaimedCommand | undefined;
  /** How it began, for the list of the host's last commands. */
  readonly begun: { readonly tool: string; readonly dispatched_at: string };
}

interface SentCommandsDeps {
  readonly clock: Clock;
  readonly recent: Pick<RecentCommands, 'sent'>;
  /** Aborts when the relay stops: what no list has is written then. */
  readonly stopping: AbortSignal;
}

/** Commands that are remembered. The record in the bus has what is forgotten. */
const sentMost = 8_192;
/** A command that ends within this time is one line of the list of its host in place of two. */
const listAfterMs = 1_000;

/**
 * The last commands that this relay has sent. Their results need no look-up of the record, and most of them are written to the list
 * of the host's last commands once.
 */
export class SentCommands {
  readonly #deps: SentCommandsDeps;
  /** The oldest first. */
  readonly #sent = new Map<string, SentCommand>();
  /** Those that no list has, the oldest first, with when they came, in time that never steps. */
  readonly #unlisted = new Map<string, number>();
  /** Commands whose results are stored, by host. */
  readonly #ended = new LRUCache<string, true>({ max: sentMost });
  #isListing = false;

  constructor(deps: SentCommandsDeps) {
    this.#deps = deps;
  }

  add({ host, command, claim }: Extract<HostRequest, { readonly kind: 'invoke' }>): void {
    const { clock } = this.#deps;
    const begun = { tool: command.tool, dispatched_at: new Date(clock.now()).toISOString() };
    if (this.#sent.size >= sentMost) this.#forgetOldest();
    // A sender that sends a command again has no result of it: NATS may have lost the one that was stored.
    this.#ended.delete(endedKey(command.commandId, host));
    this.#sent.set(command.commandId, { tenant: host.tenant, nodeId: host.nodeId, claim, begun });
    this.#unlisted.set(command.commandId, clock.steadyMs());
    if (!this.#isListing) void this.#listDue();
  }

  /** Undefined for a command of another host, or one that is not remembered. */
  find(commandId: string, { tenant, nodeId }: Pick<SentCommand, 'tenant' | 'nodeId'>): SentCommand | undefined {
    const found = this.#sent.get(commandId);
    return found?.nodeId === nodeId && found.tenant === tenant ? found : undefined;
  }

  /** The same, and forgets it. */
  take(commandId: string, host: Pick<SentCommand, 'tenant' | 'nodeId'>): SentCommand | undefined {
    const found = this.find(commandId, host);
    if (found === undefined) return undefined;
    this.#sent.delete(commandId);
    this.#unlisted.delete(commandId);
    return found;
  }

  /** Its result is stored. The record in the bus says so a moment later. */
  noteEnded(commandId: string, host: Pick<SentCommand, 'tenant' | 'nodeId'>): void {
    this.#ended.set(endedKey(commandId, host), true);
  }

  /** Whether the result of a host's command was stored here not long ago: what the host says of it counts no more. */
  hasEnded(commandId: string, host: Pick<SentCommand, 'tenant' | 'nodeId'>): boolean {
    return this.#ended.has(endedKey(commandId, host));
  }

  #forgetOldest(): void {
    const [oldest = ''] = this.#sent.keys();
    this.#list(oldest);
    this.#sent.delete(oldest);
  }

  async #listDue(): Promise<void> {
    const { clock, stopping } = this.#deps;
    this.#isListing = true;
    for (const [commandId, since] of this.#unlisted) {
      // One that has ended meanwhile is gone from the map, and a new one is visited later.
      const waitMs = since + listAfterMs - clock.steadyMs();
      if (waitMs > 0 && !stopping.aborted) await clock.sleep(waitMs, stopping);
      this.#list(commandId);
    }
    this.#isListing = false;
  }

  /** A list for people: nothing waits for it. */
  #list(commandId: string): void {
    const sent = this.#sent.get(commandId);
    if (!this.#unlisted.delete(commandId) || sent === undefined) return;
    const { tenant, nodeId, begun } = sent;
    this.#deps.recent.sent({ tenant, node_id: nodeId, command_id: commandId, ...begun });
  }
}

const endedKey = (commandId: string, { tenant, nodeId }: Pick<SentCommand, 'tenant' | 'nodeId'>): string =>
  `${tenant}/${nodeId}/${commandId}`;
