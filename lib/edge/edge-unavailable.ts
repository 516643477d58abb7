import type { FleetRunReason } from '../../crds/conditions.ts';
import { AppError, hasReason } from '../errors.ts';

/** Reason of an error, of a refused run, and code of a result: the host is offline (spec 2 §7). */
export const edgeUnavailableReason = 'EdgeUnavailable' satisfies FleetRunReason;

/** Whether a relay took no order, as too many wait already. */
const isOverloaded = (error: unknown): boolean => hasReason(error, 'Overloaded');

/** Whether the error proves that nothing was sent to the host. */
export const isUnsent = (error: unknown): boolean => isEdgeUnavailable(error) || isOverloaded(error);

/** Whether no relay holds a stream of the host, so that nothing was sent to it. */
export const isEdgeUnavailable = (error: unknown): boolean =>
  error instanceof AppError && error.reason === edgeUnavailableReason;
