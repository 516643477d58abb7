import { bytesOf } from '../memory-budget/index.ts';

/**
 * Memory limit of the bodies of all requests of one access together as they came. It also bounds the values made of
 * them, and large answers under way. The memory budget of the process has these sizes. Apart, so that callers who are
 * not known take nothing from callers who are known; no owner can have all of it.
 */
export const bodyLimits = {
  raw: {
    bearer: bytesOf('bodies of callers'),
    signature: bytesOf('bodies of signed calls'),
    public: bytesOf('bodies of unknown callers'),
    pod: bytesOf('bodies of pods'),
  },
  /** Small bodies of all kinds of access, for as long as they come. */
  smallRaw: bytesOf('small bodies'),
  parsed: {
    bearer: bytesOf('values of callers'),
    signature: bytesOf('values of webhooks'),
    public: bytesOf('answers to unknown callers'),
    pod: bytesOf('values of pods'),
  },
  /** Bodies and answers of signed calls, once their tenants are known. */
  signed: bytesOf('signed calls'),
  /** Answers of signed calls that wait for room, of all tenants together. */
  signedWaiting: 256,
  /** Bytes of those answers together: each is in memory while it waits. One tenant has four fifths of them at most. */
  signedWaitingBytes: bytesOf('waiting signed answers'),
  /** Bodies of this size take nothing from larger ones. */
  smallRawBytes: 65_536,
  /** Memory that a request may have whatever others have: small ones are always served. */
  smallParsedBytes: 65_536,
  /** How long a request waits for memory. */
  waitMs: 15_000,
} as const;

/** Answers without an end that may be open at one time; one owner has four fifths at most. */
export const endlessLimits = { events: 4_000, log: 200 } as const;
