import type { BucketDefinition } from '../bus/index.ts';

const hour = 3_600_000;

/** Buckets of the bus that the processes of edge mode share. */
export const edgeBuckets = {
  /** Which relay holds the stream of a host; key: uid of its EdgeHost. Written again at half of its time. */
  streams: { name: 'edge_streams', ttlMs: 24 * hour, holds: 'streams of hosts' },
  /** Relays that live; key: id of the relay. Written again every 5 s. */
  relays: { name: 'edge_relays', ttlMs: 15_000, isWatched: true, holds: 'relays' },
  /** Commands that were sent; key: command id. Longer than the longest deadline of a command. */
  commands: { name: 'edge_commands', ttlMs: 48 * hour, holds: 'commands of hosts' },
  /** Calls of AttestNode in the last minute; key: the address. */
  attestations: { name: 'edge_attestations', ttlMs: 2 * 60_000, holds: 'counts of addresses that attest' },
  /** Enrollment tokens that were redeemed; key: jti. Longer than a token lives. */
  enrollments: { name: 'edge_enrollments', ttlMs: hour, holds: 'redeemed enrollment tokens' },
} as const satisfies Readonly<Record<string, BucketDefinition>>;

/** The relay that holds a stream. The revision of the entry is the stream's epoch. */
export interface HeldStream {
  readonly uid: string;
  /** Absent: no stream is open. */
  readonly relay?: string;
  /** RFC 3339. */
  readonly at: string;
  /** Streams of the host in the last minutes, the oldest first: none of them is taken again (requirements AMB-011). */
  readonly recent?: readonly RecentStream[];
}

export interface RecentStream {
  /** `Hello.stream_id`. */
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
}

/** A relay that lives. */
export interface LivingRelay {
  readonly relay: string;
}

/** A command as it was claimed before it was sent. */
export interface CommandRecord {
  readonly run: string;
  readonly node_id: string;
  readonly tenant: string;
  readonly tool: string;
  /** When the command has to be over. RFC 3339. */
  readonly deadline: string;
  /** Its result is stored in the stream of results. */
  readonly ended?: boolean;
}
