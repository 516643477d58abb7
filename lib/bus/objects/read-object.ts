import { createHash } from 'node:crypto';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { ObjectInfo } from '@nats-io/obj';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { noneIfAbsent, readDirect } from '../direct-batch.ts';

interface ReadingDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly direct: Pick<JetStreamManager['direct'], 'getBatch'>;
  readonly stream: string;
  readonly chunksOf: (nuid: string) => string;
}

/** Pieces of one request; the library writes pieces of 128 KiB. */
const piecesAtOnce = 32;
/** Waits before an object whose pieces are gone is looked up again: another one has its name, or a replica is behind. */
const againAfterMs = [0, 50, 200, 800];

/**
 * The bytes of an object, which \`find\` looks up anew where its pieces are gone. The library waits for such pieces for ever: its
 * consumer of an empty subject gets no message that says so.
 * @throws AppError \`limit_exceeded\` where it has more than \`bytesMax\` bytes, \`unavailable\` where its pieces are lost.
 */
export async function readObject(
  deps: ReadingDeps,
  bytesMax: number,
  find: () => Promise<ObjectInfo | null>,
): Promise<Uint8Array | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    const info = await find();
    if (info === null || info.deleted) return undefined;
    if (info.size > bytesMax) throw tooLarge(info, bytesMax);
    const body = await bodyOf(deps, info);
    if (body !== undefined) return body;
    const pauseMs = againAfterMs[attempt];
    if (pauseMs === undefined) throw lost(info);
    await deps.clock.sleep(pauseMs);
  }
}

/** Undefined where the pieces are not those that were written. */
async function bodyOf({ direct, stream, chunksOf }: ReadingDeps, info: ObjectInfo): Promise<Uint8Array | undefined> {
  const hash = createHash('sha256');
  const pieces: Uint8Array[] = [];
  let [read, seq] = [0, 0];
  while (read < info.size) {
    const query = { seq: seq + 1, batch: piecesAtOnce, next_by_subj: chunksOf(info.nuid) };
    const found = await readDirect(direct, stream, query).catch(noneIfAbsent);
    if (found.length === 0) return undefined;
    for (const { data, seq: place } of found) {
      hash.update(data);
      pieces.push(data);
      [read, seq] = [read + data.byteLength, place];
    }
  }
  return digestOf(hash.digest('base64url')) === digestOf(info.digest) ? Buffer.concat(pieces) : undefined;
}

/** A digest without the name of its method and without padding. */
const digestOf = (text: string): string => text.replace(/^SHA-256=/, '').replaceAll('=', '');

const lost = ({ name }: ObjectInfo): AppError =>
  new AppError('unavailable', `the pieces of the object ${name} are gone from the store`, {
    reason: 'EventBusUnavailable',
  });

const tooLarge = ({ name, size }: ObjectInfo, bytesMax: number): AppError =>
  new AppError('limit_exceeded', `the object ${name} has ${size} bytes; ${bytesMax} are read at most`, {
    reason: 'ObjectTooLarge',
  });
