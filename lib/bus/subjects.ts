import { hash } from 'node:crypto';
import type { BusEvent } from './event-bus.ts';

/** Streams, and the subjects that each of them stores. */
export const streamNames = { events: 'WINDLASS_EVENTS', audit: 'WINDLASS_AUDIT' } as const;
export const subjectRoots = { events: 'windlass.events', audit: 'windlass.audit' } as const;

/** Topic of audit events, which are kept apart and longer. */
export const auditTopic = 'audit';

/** `windlass.events.<tenant>.<topic>`, or `windlass.audit.<tenant>`. */
export function eventSubject({ tenant, topic }: Pick<BusEvent, 'tenant' | 'topic'>): string {
  if (topic === auditTopic) return `${subjectRoots.audit}.${token(tenant)}`;
  return `${subjectRoots.events}.${token(tenant)}.${token(topic)}`;
}

export const streamOf = ({ topic }: Pick<BusEvent, 'topic'>): string =>
  topic === auditTopic ? streamNames.audit : streamNames.events;

/**
 * One token of a subject from any text: the text itself where it is one already, else `=` and its Base64url. A dot,
 * star or space would change which subject it is; `=` never begins a text that stays as it is.
 */
export function token(text: string): string {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text) ? text : `=${Buffer.from(text, 'utf8').toString('base64url')}`;
}

/** The text that a token was made from. */
export function textOfToken(word: string): string {
  return word.startsWith('=') ? Buffer.from(word.slice(1), 'base64url').toString('utf8') : word;
}

/**
 * The key of any text in a bucket: its SHA-256 in hexadecimal. Keys are part of a subject, which may hold few
 * characters and no more than 4 KiB. Text that is no valid Unicode would be mended on the way to UTF-8 and so meet
 * other text. It is hashed as it is, in a space of its own.
 */
export function bucketKey(text: string): string {
  if (text.isWellFormed()) return hash('sha256', text);
  return `u${hash('sha256', Buffer.from(text, 'utf16le'))}`;
}

/** The id by which the server knows an event: a header, so no line break may get into it. */
export function messageId(id: string): string {
  return /^[\x21-\x7e]{1,256}$/.test(id) ? id : `=${hash('sha256', id)}`;
}
