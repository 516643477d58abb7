import { RawPart } from './raw-part.ts';
import type { RawShares } from './raw-shares.ts';

/** Where the bytes of one body count. */
export interface RawAccounts {
  /** Those of small bodies, for as long as they come. */
  readonly small: RawShares;
  readonly large: RawShares;
  readonly smallBytes: number;
}

interface RawBodyOptions {
  readonly accounts: RawAccounts;
  readonly owner: string;
  /** Breaks its request off, to make room for others. */
  readonly giveWay: () => void;
  /** By the steady clock. */
  readonly now: number;
}

/** One body as it comes, in the account of small bodies or of large ones: a small one takes nothing from the large ones. */
export class RawBody {
  readonly #options: RawBodyOptions;
  #part: RawPart;
  #account: RawShares | undefined;
  #bytes = 0;

  constructor(options: RawBodyOptions) {
    this.#options = options;
    this.#part = new RawPart(options);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts bytes that came; false where they are too many, with those of other requests. */
  take(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#count();
  }

  /** It came as a whole, and gives way to none. A small one counts no more. */
  complete(): void {
    this.#part.isWhole = true;
    this.#part.leaveRing();
    if (this.#isSmall) this.give();
  }

  /** Counts it to another owner; false where that one has no room for it. */
  moveTo(owner: string): boolean {
    this.give();
    this.#part = new RawPart({ ...this.#options, owner });
    this.#part.isWhole = true;
    return this.#isSmall || this.#count();
  }

  /** It is kept no more. */
  give(): void {
    this.#account?.give(this.#part);
    this.#account = undefined;
  }

  get #isSmall(): boolean {
    return this.#bytes <= this.#options.accounts.smallBytes;
  }

  #count(): boolean {
    const { small, large } = this.#options.accounts;
    const account = this.#isSmall ? small : large;
    if (account !== this.#account) this.give();
    this.#account = account;
    return account.take(this.#part, this.#bytes);
  }
}
