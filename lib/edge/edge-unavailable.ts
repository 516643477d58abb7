import type { FleetRunReason } from '../../crds/conditions.ts';
import { AppError } from '../errors.ts';

/** Reason of an error, of a refused run, and code of a result: the host is offline (spec 2 §7). */
export const edgeUnavailableReason = 'EdgeUnavailable' satisfies FleetRunReason;

/** Whether no relay holds a stream of the host, so that nothing was sent to it. */
export const isEdgeUnavailable = (error: unknown): boolean =>
  error instanceof AppError && error.reason === edgeUnavailableReason;
