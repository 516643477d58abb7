import { isInvalid } from '../kube/index.ts';

/** Another one has cancelled the execution first: its kind keeps the first cancellation, which does the same. */
export const isCancelledBefore = (error: unknown): boolean =>
  isInvalid(error) && error.serverMessage.includes('cancel: cannot be taken back');
