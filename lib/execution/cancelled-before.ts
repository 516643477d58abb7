import { isInvalid } from '../kube/index.ts';

/** The rules of the kinds that can be cancelled; those of an earlier installation may still be in the cluster. */
const taken = /cancel(: cannot be| cannot be changed or) taken back/;

/** Another one has cancelled the execution first: its kind keeps the first cancellation, which does the same. */
export const isCancelledBefore = (error: unknown): boolean => isInvalid(error) && taken.test(error.serverMessage);
