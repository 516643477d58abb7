import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { AppError } from '../errors.ts';
import { createBlob } from './blob.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** The form in which every store keeps a blob: gzip, as fast as it goes. */
export const pack = (data: Uint8Array): Promise<Uint8Array> => compress(data, { level: 1 });

/**
 * The blob that was packed.
 * @throws AppError `internal` where the bytes are not those that `ref` names.
 */
export async function unpack(packed: Uint8Array, ref: string): Promise<Uint8Array> {
  const data = await decompress(packed).catch((cause: unknown) => {
    throw new AppError('internal', `stored output ${ref} cannot be decompressed`, { cause });
  });
  if (createBlob(data).ref === ref) return data;
  throw new AppError('internal', `stored output ${ref} does not have the bytes its hash names`);
}
