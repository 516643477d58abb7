import { hash } from 'node:crypto';

/** Longest key that a cache of entries takes as it is. */
const longest = 128;

/** A key of bounded length for a text whose writer chose its length. */
export const shortKey = (text: string): string => (text.length <= longest ? text : hash('sha256', text));
