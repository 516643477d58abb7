/** A bucket and how long its entries live, counted from their last write. */
export interface BucketDefinition {
  readonly name: string;
  readonly ttlMs: number;
  /** Whether watchers see the end of expired keys. Needs a server of version 2.11 or later. */
  readonly isWatched?: boolean;
  /** Whether an entry counts as one key for each 300 bytes of its value, which bounds the bytes of a bucket as well. */
  readonly isWeighed?: boolean;
  /** Texts of refusals: the entries, in the plural. Default: the name of the bucket says it. */
  readonly holds?: string;
  /** The same: how a caller does without an entry, as a command. */
  readonly instead?: string;
}

/** For people: the entries of a bucket, in the plural. No text may name those of another one. */
export const heldIn = ({
  name,
  holds = `entries of the bucket ${name}`,
}: Pick<BucketDefinition, 'name' | 'holds'>): string => holds;

/** For people: how a caller does without an entry, before the other way out. */
export const insteadOf = ({ instead }: Pick<BucketDefinition, 'instead'>): string =>
  instead === undefined ? '' : `${instead}, or `;
