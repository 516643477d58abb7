import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { createFairPool, type FairPool, type PoolPart } from '../fair-pool.ts';
import { bodyLimits } from './body-limits.ts';
import type { Access } from './contract.ts';
import { type RawAccounts, RawBody } from './raw-body.ts';
import { RawShares } from './raw-shares.ts';
import { tenantShareUsed, tooManyAnswers, tooManyBodies } from './request-errors.ts';

/** The memory of one server that requests share, by access and by tenant. */
export interface ServerMemory {
  readonly clock: Clock;
  readonly bodies: Readonly<Record<Access, { readonly raw: RawAccounts; readonly parsed: FairPool }>>;
  readonly signed: FairPool;
  readonly signedWaiting: FairPool;
}

/** One tenant's pods have half of theirs: what is left holds a page of the largest records of another one. */
const sharesOf: Partial<Readonly<Record<Access, { readonly perFree: number }>>> = { pod: { perFree: 1 } };

export function createServerMemory(clock: Clock): ServerMemory {
  // All of its bodies may give way, so that one owner may have all of it meanwhile.
  const small = new RawShares({ clock, totalBytes: bodyLimits.smallRaw, ownerBytes: bodyLimits.smallRaw });
  const of = (access: Access) => ({
    raw: { small, large: largeOf(clock, bodyLimits.raw[access]), smallBytes: bodyLimits.smallRawBytes },
    parsed: createFairPool({ size: bodyLimits.parsed[access], clock, ...sharesOf[access] }),
  });
  return {
    clock,
    bodies: { bearer: of('bearer'), signature: of('signature'), public: of('public'), pod: of('pod') },
    signed: createFairPool({ size: bodyLimits.signed, waiting: bodyLimits.signedWaiting, clock }),
    signedWaiting: createFairPool({ size: bodyLimits.signedWaitingBytes, clock }),
  };
}

const largeOf = (clock: Clock, totalBytes: number): RawShares =>
  new RawShares({ clock, totalBytes, ownerBytes: totalBytes / 2 });

/** The part of the memory of its server that one request holds. Errors and arguments: as `InFlightRequest` has them. */
export class RequestMemory {
  readonly #server: ServerMemory;
  readonly #access: Access;
  #owner = '';
  /** The kind of access whose account its body counts to. */
  #rawOf: Access;
  #raw: RawBody | undefined;
  #place: PoolPart | undefined;
  #placeBytes = 0;
  #isSigned = false;
  #hasLeft = false;

  constructor(server: ServerMemory, access: Access) {
    this.#server = server;
    this.#access = access;
    this.#rawOf = access;
  }

  get owner(): string {
    return this.#owner;
  }

  get isSigned(): boolean {
    return this.#isSigned;
  }

  get heldBytes(): number {
    return this.#placeBytes;
  }

  ownedBy(owner: string, bodyOf: Access = this.#access): void {
    this.#owner = owner;
    this.#rawOf = bodyOf;
  }

  ofTenant(tenant: string): void {
    if (this.#access === 'pod') return this.#ofPodOf(tenant);
    const { bytes = 0 } = this.#raw ?? {};
    this.#giveRaw();
    this.#owner = tenant;
    this.#isSigned = true;
    if (bytes <= bodyLimits.smallRawBytes) return;
    this.#place = this.#server.signed.tryEnter({ tenant, cost: bytes });
    if (this.#place === undefined) throw this.#noRoom(tooManyBodies, false);
    this.#placeBytes = bytes;
  }

  #ofPodOf(tenant: string): void {
    if (tenant === this.#owner) return;
    const parsed = this.#placeBytes;
    this.#giveBack();
    this.#owner = tenant;
    if (this.#raw?.moveTo(this.#rawOwner) === false) throw tooManyBodies();
    if (parsed === 0) return;
    this.#place = this.#parsed.tryEnter({ tenant, cost: parsed });
    if (this.#place === undefined) throw tooManyBodies();
    this.#placeBytes = parsed;
  }

  dropBody(): void {
    this.#giveRaw();
    this.#giveBack();
  }

  beginBody(giveWay: () => void): RawBody {
    const { clock, bodies } = this.#server;
    const own = { accounts: bodies[this.#rawOf].raw, owner: this.#rawOwner, now: clock.steadyMs() };
    this.#raw = new RawBody({ ...own, giveWay });
    return this.#raw;
  }

  /** `signal` ends the wait. */
  async reserve(bytes: number, signal: () => AbortSignal): Promise<void> {
    this.#giveBack();
    if (bytes <= bodyLimits.smallParsedBytes) return;
    this.#place = await this.#enter(this.#parsed, bytes, { refusal: tooManyBodies, signal });
    this.#placeBytes = bytes;
    // It ended while it waited: no other code gives the place back.
    if (this.#hasLeft) this.#giveBack();
  }

  answer(bytes: number, signal: () => AbortSignal): Promise<void> | undefined {
    if (this.#isSigned) return this.#answerSigned(bytes, signal);
    if (bytes <= Math.max(this.#placeBytes, bodyLimits.smallParsedBytes)) return undefined;
    this.#giveBack();
    this.#place = this.#parsed.tryEnter({ tenant: this.#owner, cost: bytes });
    if (this.#place === undefined) throw tooManyAnswers();
    this.#placeBytes = bytes;
    return undefined;
  }

  keepOnly(bytes: number): void {
    if (bytes >= this.#placeBytes) return;
    if (bytes <= bodyLimits.smallParsedBytes) return this.#giveBack();
    this.#place?.shrinkTo(bytes);
    this.#placeBytes = bytes;
  }

  async #answerSigned(bytes: number, signal: () => AbortSignal): Promise<void> {
    // Its body is not looked at any more.
    this.#giveBack();
    if (bytes <= bodyLimits.smallParsedBytes) return;
    this.#place = await this.#enterSigned(bytes, signal);
    this.#placeBytes = bytes;
  }

  async #enterSigned(bytes: number, signal: () => AbortSignal): Promise<PoolPart> {
    const { signed, signedWaiting } = this.#server;
    // It would count as the share, and take more.
    if (bytes > signed.share) throw tenantShareUsed(signed.share, true);
    const entry = { tenant: this.#owner, cost: bytes };
    const place = signed.tryEnter(entry);
    if (place !== undefined) return place;
    // The same for the answers that wait.
    using wait = bytes <= signedWaiting.share ? signedWaiting.tryEnter(entry) : undefined;
    if (wait === undefined) throw this.#noRoom(tooManyAnswers, true);
    return await this.#enter(signed, bytes, { refusal: () => this.#noRoom(tooManyAnswers, true), signal });
  }

  /** The tenant's own doing, or that of the others. */
  #noRoom(ofOthers: () => Error, hasRun: boolean): Error {
    const { signed } = this.#server;
    return signed.heldBy(this.#owner) > 0 ? tenantShareUsed(signed.share, hasRun) : ofOthers();
  }

  async #enter(pool: FairPool, cost: number, { refusal, signal }: Wait): Promise<PoolPart> {
    const entry = { tenant: this.#owner, cost };
    const place = pool.tryEnter(entry);
    if (place !== undefined) return place;
    using patience = startDeadline(this.#server.clock, bodyLimits.waitMs, signal());
    return await pool.enter({ ...entry, signal: patience.signal }).catch(() => {
      throw refusal();
    });
  }

  /** Small bodies of all kinds of access share one account. */
  get #rawOwner(): string {
    return `${this.#rawOf} ${this.#owner}`;
  }

  get #parsed(): FairPool {
    return this.#server.bodies[this.#access].parsed;
  }

  #giveRaw(): void {
    this.#raw?.give();
    this.#raw = undefined;
  }

  #giveBack(): void {
    this.#place?.leave();
    this.#place = undefined;
    this.#placeBytes = 0;
  }

  /** Gives everything back, and what is waited for as soon as it comes. */
  leave(): void {
    this.dropBody();
    this.#hasLeft = true;
  }
}

interface Wait {
  readonly refusal: () => Error;
  /** Made only where there is a wait. */
  readonly signal: () => AbortSignal;
}
