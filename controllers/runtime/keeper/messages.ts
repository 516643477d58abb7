import type { ObjectRef } from '../../../lib/kube/index.ts';
import type { LogLevel } from '../../../lib/logger.ts';
import type { HealthPage } from '../../../lib/process/health-server.ts';
import type { ElectionEnd } from '../lease-election.ts';
import type { LeaseTiming } from '../tenure.ts';

/** Initial data of the thread. Plain data and shared memory: it is copied to another thread. */
export interface KeeperData {
  readonly heartbeat: SharedArrayBuffer;
  readonly tenure: SharedArrayBuffer;
  readonly health: HealthAddress;
  /** Paths whose pages the main thread makes. */
  readonly paths: readonly string[];
  readonly election: ElectionData | undefined;
  /** After this long without a turn of the main loop the process counts as stuck, in milliseconds. */
  readonly silentMostMs: number;
  readonly logLevel: LogLevel;
}

interface HealthAddress {
  readonly port: number;
  readonly host?: string | undefined;
}

export interface ElectionData extends LeaseTiming {
  readonly lease: ObjectRef;
  readonly identity: string;
  /** Where credentials are found (`findCredentials`). */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type ToKeeper =
  | { readonly kind: 'compete' }
  /** A thread before this one has led, and has died. */
  | { readonly kind: 'resume' }
  | { readonly kind: 'release' }
  | { readonly kind: 'page'; readonly id: number; readonly page: HealthPage };

export type FromKeeper =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'leading' }
  | { readonly kind: 'ended'; readonly end: ElectionEnd }
  | { readonly kind: 'ask'; readonly id: number; readonly path: string };
