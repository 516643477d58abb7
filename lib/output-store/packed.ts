import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { limits } from '../../crds/limits.ts';
import { AppError } from '../errors.ts';
import { type Blob, type BlobLocator, createBlob } from './blob.ts';
import { OutputBudgetExceeded } from './output-store.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** The form in which every store keeps a blob: gzip, at its fastest level. */
export const pack = (data: Uint8Array): Promise<Uint8Array> => compress(data, { level: 1 });

/**
 * Packs blobs on their way to a store.
 * @throws OutputBudgetExceeded where one of them is larger than any reader takes.
 */
export async function packAll(blobs: readonly Blob[]): Promise<{ blob: Blob; data: Uint8Array }[]> {
  const largest = Math.max(0, ...blobs.map(({ data }) => data.byteLength));
  if (largest > limits.storedBlobBytes) throw tooLarge(largest);
  return Promise.all(blobs.map(async (blob) => ({ blob, data: await pack(blob.data) })));
}

/** Largest packed form of so many bytes: gzip adds its frame, and five bytes to each block that does not shrink. */
export const packedBytesMax = (bytes: number): number => bytes + Math.ceil(bytes / 1_000) + 64;

/**
 * The size that the status gives a blob, before anything of it is read.
 * @throws AppError `OutputLost` where it is larger than anything that is ever stored.
 */
export function boundOf({ ref, bytes }: Pick<BlobLocator, 'ref' | 'bytes'>): number {
  if (bytes <= limits.storedBlobBytes) return bytes;
  throw lost(ref, `its size of ${bytes} bytes is above the limit of ${limits.storedBlobBytes}`);
}

/**
 * The blob that was packed. Never takes more memory than the size that the status gives it.
 * @throws AppError `OutputLost` where the bytes are not those that the locator names.
 */
export async function unpack(packed: Uint8Array, locator: Pick<BlobLocator, 'ref' | 'bytes'>): Promise<Uint8Array> {
  const { ref } = locator;
  // zlib takes no limit of zero.
  const maxOutputLength = Math.max(1, boundOf(locator));
  const data = await decompress(packed, { maxOutputLength }).catch((cause: unknown) => {
    throw lost(ref, `it does not unpack to ${locator.bytes} bytes`, cause);
  });
  if (createBlob(data).ref === ref) return data;
  throw lost(ref, 'it does not have the bytes that its hash names');
}

/** Another writer replaced or removed what was stored, and no later reading brings it back. */
export const lost = (ref: string, why: string, cause?: unknown): AppError =>
  new AppError('not_found', `stored output ${ref} is lost: ${why}`, { reason: 'OutputLost', cause });

function tooLarge(bytes: number): OutputBudgetExceeded {
  const message = `one output of this execution has ${bytes} bytes; the limit of one is ${limits.storedBlobBytes}`;
  return new OutputBudgetExceeded(message);
}
