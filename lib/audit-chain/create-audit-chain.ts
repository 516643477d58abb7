import type { KeyObject } from 'node:crypto';
import type { EventBus, MessageStream } from '../bus/index.ts';
import type { Clock } from '../clock.ts';
import { AppError, messageOf, hasReason } from '../errors.ts';
import { mayHold } from '../fair-pool.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { AuditChain } from './audit-chain.ts';
import type { AuditObserver } from './audit-observer.ts';
import { auditStream, checkpointStream, noTenant } from './audit-streams.ts';
import { unlinkedEvent, writtenEvent } from './chained-event.ts';
import { type Checkpoint, checkpointOf, isSigned, keyIdOf, keyRing, signCheckpoint } from './checkpoint.ts';
import { type GatewayEvent, isOutcome } from './gateway-event.ts';
import { createLaneLease, type LaneLease } from './lane-lease.ts';
import { auditLimits } from './limits.ts';
import { createLostOutcomes, type LostOutcomes } from './lost-outcomes.ts';
import { notStored, notStoredYet, TenantChain, tenantField } from './tenant-chain.ts';

export interface AuditChainDeps {
  readonly bus: Pick<EventBus, 'bucket' | 'stream' | 'problem'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Hears of lost outcomes. Default: the log alone has them. */
  readonly observer?: AuditObserver;
  readonly newId: NewId;
  /** Private Ed25519 key that signs the ends of chains (`loadAuditKey`). */
  readonly key: KeyObject;
  /** Keys that signed before (`loadFormerKeys`). Default: none. */
  readonly formerKeys?: readonly KeyObject[];
}

/** The audit of one process. Its timers end with `close`. */
export function createAuditChain(deps: AuditChainDeps): AuditChain {
  return new LaneAudit(deps);
}

const unheard: AuditObserver = { lost: () => undefined };

interface Held {
  events: number;
  bytes: number;
}

class LaneAudit implements AuditChain {
  readonly #deps: AuditChainDeps;
  readonly #lease: LaneLease;
  readonly #events: MessageStream;
  readonly #checkpoints: MessageStream;
  readonly #keyId: string;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #chains = new Map<string, TenantChain>();
  readonly #held = new Map<string, Held>();
  readonly #all: Held = { events: 0, bytes: 0 };
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #lost: LostOutcomes;
  #sweeping = false;
  #isClosed = false;

  constructor(deps: AuditChainDeps) {
    this.#deps = deps;
    this.#lease = createLaneLease({ ...deps, holder: `${deps.newId()}${deps.newId()}` });
    this.#events = deps.bus.stream(auditStream);
    this.#checkpoints = deps.bus.stream(checkpointStream);
    this.#lost = createLostOutcomes(deps.logger, deps.observer ?? unheard);
    this.#keyId = keyIdOf(deps.key);
    this.#keys = keyRing([deps.key, ...(deps.formerKeys ?? [])]);
    this.#running = this.#watch();
  }

  append(event: GatewayEvent): Promise<void> {
    if (this.#isClosed) return this.#refuseClosed(event);
    const { clock, newId } = this.#deps;
    const now = clock.now();
    const end = now + auditLimits.appendMs;
    const tenant = event.tenant ?? noTenant;
    return new Promise((resolve, reject) => {
      const id = newId();
      const written = writtenEvent(unlinkedEvent(event, id, new Date(now).toISOString()));
      const bytes = Buffer.byteLength(written.before) + Buffer.byteLength(written.behind);
      if (!this.#hasRoom(tenant, bytes)) return reject(this.#refused(event, 'too many events wait for the event bus'));
      this.#count(tenant, 1, bytes);
      const late = (error: unknown): void => reject(notStoredYet(error));
      const settle = (error?: unknown): void => {
        this.#count(tenant, -1, -bytes);
        if (error === undefined) resolve();
        else reject(this.#refused(event, error));
      };
      const kept = isOutcome(event) ? now + auditLimits.outcomeMs : end;
      this.#chainOf(tenant).add({ id, event: written, bytes, end, kept, late, settle });
      if (!this.#sweeping) void this.#sweep();
    });
  }

  async #refuseClosed(event: GatewayEvent): Promise<void> {
    const refused = this.#refused(event, 'the process is stopping');
    this.#lost.log();
    throw refused;
  }

  /** The answer to the caller of an event that will not be stored. */
  #refused(event: GatewayEvent, error: unknown): AppError {
    if (isOutcome(event)) this.#lost.add(event, error);
    return refusalOf(error);
  }

  problem(): string | undefined {
    return this.#isClosed ? 'the audit is closed' : this.#deps.bus.problem();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const until = this.#deps.clock.now() + auditLimits.closeMs;
    const ending = [...this.#chains.values()].map((chain) => {
      chain.finish(until);
      return chain.idle();
    });
    await Promise.all(ending);
    this.#lost.log();
    this.#stop.abort();
    await this.#running;
    await this.#writeCheckpoints();
    await this.#lease.leave();
  }

  #chainOf(tenant: string): TenantChain {
    const known = this.#chains.get(tenant);
    if (known !== undefined) return known;
    const deps = {
      stream: this.#events,
      lane: () => this.#lease.lane(),
      vouched: (lane: string) => this.#vouched(tenant, lane),
      clock: this.#deps.clock,
    };
    const chain = new TenantChain(deps, tenant);
    this.#chains.set(tenant, chain);
    return chain;
  }

  /** The last checkpoint, signed with a key of the settings. */
  async #vouched(tenant: string, lane: string): Promise<Checkpoint | undefined> {
    const found = await this.#checkpoints.last({ tenant, key: lane });
    const checkpoint = found === undefined ? undefined : checkpointOf(found.body);
    const isOfChain = checkpoint?.lane === lane && (checkpoint.tenant ?? noTenant) === tenant;
    return isOfChain && isSigned(checkpoint, this.#keys) ? checkpoint : undefined;
  }

  /** While anything waits, refuses what has waited for too long. */
  async #sweep(): Promise<void> {
    const { clock } = this.#deps;
    this.#sweeping = true;
    while (this.#all.events > 0) {
      await clock.sleep(auditLimits.sweepMs);
      for (const chain of this.#chains.values()) chain.sweep(clock.now());
      this.#lost.log();
    }
    this.#sweeping = false;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#deps.clock.sleep(auditLimits.checkpointMs, signal);
      if (signal.aborted) return;
      await this.#lease.renew();
      await this.#writeCheckpoints();
      this.#forgetIdle();
    }
  }

  async #writeCheckpoints(): Promise<void> {
    const grown = [...this.#chains.values()].filter((chain) => chain.newEnd() !== undefined);
    try {
      for (let from = 0; from < grown.length; from += auditLimits.checkpointsAtOnce) {
        const some = grown.slice(from, from + auditLimits.checkpointsAtOnce);
        await Promise.all(some.map((chain) => this.#writeCheckpoint(chain)));
      }
    } catch (error) {
      // The next turn vouches for these ends and for what came meanwhile.
      this.#deps.logger.warn({ problem: messageOf(error) }, 'audit checkpoints not stored');
    }
  }

  async #writeCheckpoint(chain: TenantChain): Promise<void> {
    const { tenant } = chain;
    const found = chain.newEnd();
    if (found === undefined) return;
    const { lane, end } = found;
    const { sequence, hash, time } = end;
    const statement = { ...tenantField(tenant), lane, sequence, hash, time, key_id: this.#keyId };
    const body = JSON.stringify(signCheckpoint(statement, this.#deps.key));
    await this.#checkpoints.append({ tenant, key: lane, body });
    chain.signed(sequence);
  }

  #forgetIdle(): void {
    const now = this.#deps.clock.now();
    for (const [tenant, chain] of this.#chains) {
      const isIdle = !chain.isBusy && chain.newEnd() === undefined && now - chain.usedAt > auditLimits.idleMs;
      if (isIdle) this.#chains.delete(tenant);
    }
  }

  #hasRoom(tenant: string, bytes: number): boolean {
    const held = this.#held.get(tenant) ?? { events: 0, bytes: 0 };
    const freeEvents = auditLimits.waitingEvents - this.#all.events;
    const freeBytes = auditLimits.waitingBytes - this.#all.bytes;
    return mayHold(held.events, freeEvents) && mayHold(held.bytes, freeBytes, bytes);
  }

  #count(tenant: string, events: number, bytes: number): void {
    const held = this.#held.get(tenant) ?? { events: 0, bytes: 0 };
    this.#held.set(tenant, held);
    for (const account of [held, this.#all]) {
      account.events += events;
      account.bytes += bytes;
    }
    if (held.events === 0) this.#held.delete(tenant);
  }
}

/** Anything that keeps an event from its store is `unavailable`, but for one that is too large. */
function refusalOf(error: unknown): AppError {
  if (error instanceof AppError && (error.code === 'limit_exceeded' || hasReason(error, 'AuditUnavailable')))
    return error;
  return notStored(error);
}
