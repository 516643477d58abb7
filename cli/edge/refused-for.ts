import { WindlassApiError } from '../../client/index.ts';

/** Whether the API refused for want of a scope. */
export const isRefusedFor = (error: unknown): boolean => error instanceof WindlassApiError && error.status === 403;
