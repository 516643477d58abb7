import { AppError } from '../errors.ts';

const stopping = 'ServerStopping';

/** The reason with which signals of requests abort that a stopping process gives up. */
export const serverStops = (): AppError =>
  new AppError('cancelled', 'this replica stopped before the request had its answer', { reason: stopping });

/** Whether a signal aborts because the process stops, and not because the caller has left or the time is up. */
export const isServerStopping = ({ reason }: AbortSignal): boolean =>
  reason instanceof AppError && reason.reason === stopping;
