import { status } from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { GrpcFailure } from './grpc-error.ts';
import type { Peer } from './peer.ts';

/** Counts what was served. */
export interface GrpcMetrics {
  /** `code` is a name of the standard, such as `ALREADY_EXISTS`. */
  callDone(report: { readonly operation: string; readonly code: string; readonly seconds: number }): void;
}

export interface ReportDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly metrics?: GrpcMetrics;
}

/** Writes down how a call ended: one line, without its content. */
export type EndReport = (failure?: Pick<GrpcFailure, 'code' | 'isFault'>, error?: unknown) => void;

/** Takes the time from now on. */
export function startReport(deps: ReportDeps, operation: string, peer: Peer | undefined): EndReport {
  const { clock, logger, newId, metrics } = deps;
  const started = clock.now();
  return (failure, err) => {
    const ms = clock.now() - started;
    const code = status[failure?.code ?? status.OK];
    metrics?.callDone({ operation, code, seconds: ms / 1000 });
    const fields = { callId: newId(), operation, code, ms, client: peer?.commonName };
    if (failure?.isFault) logger.error({ ...fields, err }, 'call failed');
    else logger.info(fields, 'call');
  };
}
