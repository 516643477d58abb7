import { hash } from 'node:crypto';
import type { BlobRef } from '../../crds/schema/workflow-execution-status.ts';

/** A value on its way to the output store, under the SHA-256 of its bytes. */
export interface Blob {
  /** SHA-256, lower-case hex. */
  readonly ref: string;
  readonly data: Uint8Array;
}

/** Names a blob by its content. */
export function createBlob(data: Uint8Array): Blob {
  return { ref: hash('sha256', data), data };
}

/** How the bytes of a blob become a value again. */
type BlobEncoding = BlobRef['encoding'];

/**
 * The address of a large value: the execution that reads it, its hash and its encoding. The text form is what
 * `LargeValue.ref` carries through templates.
 */
export interface BlobLocator {
  readonly executionUid: string;
  readonly ref: string;
  readonly encoding: BlobEncoding;
  /** Size of the value, uncompressed, as the status says it: no reader takes more than that. */
  readonly bytes: number;
  /** Uid of the execution that stored it, where another one did. */
  readonly storedBy?: string | undefined;
}

/** The locator of what the status of an execution names. */
export const locatorOf = (
  executionUid: string,
  { ref, bytes, encoding, stored_by: storedBy }: Pick<BlobRef, 'ref' | 'bytes' | 'encoding' | 'stored_by'>,
): BlobLocator => ({ executionUid, ref, bytes, encoding, ...(storedBy !== undefined && { storedBy }) });

export const locatorText = ({ encoding, executionUid, ref, bytes, storedBy }: BlobLocator): string =>
  [encoding, executionUid, ref, bytes, ...(storedBy === undefined ? [] : [storedBy])].join('/');

/** The reverse of `locatorText`. Throws RangeError for any other text. */
export function parseLocator(text: string): BlobLocator {
  const [encoding, executionUid, ref, size, storedBy] = text.split('/');
  const bytes = Number(size);
  if ((encoding !== 'text' && encoding !== 'json') || executionUid === undefined || ref === undefined) {
    throw new RangeError(`'${text}' is no blob locator`);
  }
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new RangeError(`'${text}' names no size`);
  return { executionUid, ref, encoding, bytes, ...(storedBy !== undefined && { storedBy }) };
}
