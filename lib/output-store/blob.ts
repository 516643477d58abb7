import { hash } from 'node:crypto';

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
type BlobEncoding = 'text' | 'json';

/**
 * Where a large value stands: the execution that stored it, its hash and its encoding. The text form is what
 * `LargeValue.ref` carries through templates.
 */
export interface BlobLocator {
  readonly executionUid: string;
  readonly ref: string;
  readonly encoding: BlobEncoding;
}

export const locatorText = (locator: BlobLocator): string =>
  `${locator.encoding}/${locator.executionUid}/${locator.ref}`;

/** The reverse of `locatorText`. Throws RangeError for any other text. */
export function parseLocator(text: string): BlobLocator {
  const [encoding, executionUid, ref] = text.split('/');
  if ((encoding !== 'text' && encoding !== 'json') || executionUid === undefined || ref === undefined) {
    throw new RangeError(`'${text}' is no blob locator`);
  }
  return { executionUid, ref, encoding };
}
