import { AppError, type ErrorCode, messageOf } from './errors.ts';
import {
  isAdmissionUnready,
  isDenied,
  isIdentityRefused,
  isMissingKind,
  isNamespaceGone,
  isQuotaExceeded,
  isQuotaRaced,
  isQuotaUncounted,
  isRetryable,
  isTooLarge,
  KubeError,
  lacksRights,
} from './kube/kube-error.ts';

/** The error as a caller of ours sees it. */
interface CallerError {
  readonly code: ErrorCode;
  /** Absent where it would tell of our insides. */
  readonly message?: string;
}

/** Codes whose message is about the request. */
const aboutRequest: ReadonlySet<ErrorCode> = new Set(['invalid', 'conflict', 'already_exists', 'limit_exceeded']);

/**
 * The error that a caller gets for any exception, over whichever protocol. The API server speaks to us, not to our
 * caller: what it denies us is our fault, what it finds invalid is the caller's.
 */
export function callerError(error: unknown): CallerError {
  if (!(error instanceof AppError)) return { code: 'internal' };
  if (error instanceof KubeError) return ofCluster(error);
  const { code } = error;
  return aboutRequest.has(code) ? { code, message: error.message } : { code };
}

type Answer = (error: KubeError) => CallerError;
type Row = readonly [is: (error: unknown) => boolean, answer: Answer];

const unavailable =
  (message: string): Answer =>
  () => ({ code: 'unavailable', message });

/** Refusals of a namespace in its first moments, or of a server that has just begun: the same request succeeds soon. */
const notYet: readonly Row[] = [
  [
    lacksRights,
    ({ serverMessage }) => ({
      code: 'unavailable',
      message: serverMessage.includes(' in the namespace "')
        ? 'the namespace does not give Windlass its rights yet; try again, and if this lasts, set the tenant up with windlass tenant create'
        : 'the cluster does not give Windlass its rights at the moment; try again, and if this lasts, install the chart',
    }),
  ],
  [isQuotaUncounted, unavailable('a new quota of the tenant is not counted yet; try again')],
  [isQuotaRaced, unavailable('the quota of the tenant is counted by many requests at once; try again')],
  [isIdentityRefused, unavailable('the Kubernetes API does not accept this replica at the moment; try again')],
  [isAdmissionUnready, unavailable('the Kubernetes API has just begun and admits nothing yet; try again')],
];

/** `isMissingKind` also means an answer without a reason. */
const lacksKind = (error: unknown): boolean =>
  isMissingKind(error) && messageOf(error).includes('could not find the requested resource');

/** The first that fits decides. */
const rows: readonly Row[] = [
  ...notYet,
  [isTooLarge, () => ({ code: 'limit_exceeded', message: 'the object is larger than a cluster can store' })],
  [isNamespaceGone, () => ({ code: 'not_found' })],
  [
    isQuotaExceeded,
    () => ({
      code: 'limit_exceeded',
      message: 'the quota of the tenant is used up; delete what is no longer needed',
    }),
  ],
  // An admission policy speaks of the object. Its status is 422, or 403.
  [isDenied, ({ code, serverMessage: message }) => ({ code: code === 'invalid' ? code : 'forbidden', message })],
  [
    lacksKind,
    unavailable('a kind of Windlass is missing in the cluster; try again, and if this lasts, install the chart'),
  ],
];

function ofCluster(error: KubeError): CallerError {
  const known = rows.find(([is]) => is(error));
  if (known !== undefined) return known[1](error);
  const { code, serverMessage: message } = error;
  if (code === 'forbidden') return { code: 'internal' };
  if (code === 'internal' && isRetryable(error)) return { code: 'unavailable' };
  return code === 'invalid' ? { code, message } : { code };
}

/** The sentence for the caller where the cluster takes the same request in a moment, such as in a new tenant. */
export function notYetMessage(error: unknown): string | undefined {
  if (!(error instanceof KubeError)) return undefined;
  return notYet.find(([is]) => is(error))?.[1](error).message;
}
