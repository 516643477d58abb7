import { AppError } from '../../errors.ts';
import { duplicateWindowMs, nanos, type WantedStream } from '../streams.ts';
import { streamNames, subjectRoots, textOfToken, token } from '../subjects.ts';
import type { MessageSource } from '../subscribe/subscription.ts';
import type { StreamDefinition } from './message-stream.ts';

/** Bytes of a tenant or a key, so that a subject stays far below the 4 KiB that the server takes. */
const wordBytesMax = 512;

export const ownStreamName = ({ name }: StreamDefinition): string => `WINDLASS_STREAM_${name}`;

const ownRoot = ({ name, share }: StreamDefinition): string =>
  share === undefined ? `windlass.stream.${name}` : shareRoot(share.of);

const shareRoot = (of: string): string => `windlass.share.${of}`;

/** Every subject of the streams that share one bound. */
export const shareSubjects = (of: string): string => `${shareRoot(of)}.>`;

/** `windlass.stream.<name>.<tenant>.<key>` */
export function ownSubject(definition: StreamDefinition, tenant: string, key: string): string {
  return `${ownRoot(definition)}.${word(tenant, 'tenant')}.${word(key, 'key')}`;
}

/** The stream behind a definition. Nothing can be taken out of it but by age and size. */
export function ownStream(definition: StreamDefinition, replicas: number): WantedStream {
  const { retention, isRecord = false, newest, share, inBatches = false } = definition;
  const { maxAgeMs, maxBytes } = retention;
  return {
    name: ownStreamName(definition),
    subjects: [sourceFilter(definition, share?.tenant, undefined)],
    storage: 'file',
    retention: 'limits',
    discard: 'old',
    max_age: nanos(maxAgeMs),
    duplicate_window: nanos(Math.min(duplicateWindowMs, maxAgeMs)),
    compression: 's2',
    num_replicas: replicas,
    ...(maxBytes === 'unbounded' ? {} : { max_bytes: maxBytes }),
    ...(newest === undefined ? {} : { max_msgs_per_subject: newest }),
    ...(inBatches ? { allow_direct: true } : {}),
    ...(isRecord ? { deny_delete: true, deny_purge: true } : {}),
  };
}

/** The name of a source's stream. */
export const sourceName = (source: MessageSource): string =>
  typeof source === 'string' ? streamNames[source] : ownStreamName(source);

/** Subjects of a source that are of one tenant, and of one topic or key; undefined means all. */
export function sourceFilter(source: MessageSource, tenant: string | undefined, key: string | undefined): string {
  const root = rootOf(source);
  const words = [tenant === undefined ? '*' : word(tenant, 'tenant'), key === undefined ? '*' : word(key, 'key')];
  // An audit event has no topic of its own.
  return [root, ...(source === 'audit' ? words.slice(0, 1) : words)].join('.');
}

/** Whose a message is, and its topic or key, by its subject. */
export function readSubject(source: MessageSource, subject: string): { readonly tenant: string; readonly key: string } {
  const [tenant = '', key = ''] = subject.slice(rootOf(source).length + 1).split('.');
  return { tenant: textOfToken(tenant), key: textOfToken(key) };
}

const rootOf = (source: MessageSource): string => (typeof source === 'string' ? subjectRoots[source] : ownRoot(source));

function word(text: string, what: string): string {
  if (Buffer.byteLength(text) <= wordBytesMax && text.isWellFormed()) return token(text);
  throw new AppError('invalid', `the ${what} of a message is at most ${wordBytesMax} bytes of Unicode`, {
    reason: 'SubjectInvalid',
  });
}
