import { callerError } from '../lib/caller-error.ts';
import { hasReason } from '../lib/errors.ts';
import { GrpcError } from '../lib/grpc/grpc-error.ts';
import { KubeError } from '../lib/kube/index.ts';

/** Ends streams of a relay that stops. */
export const relayStops = (): GrpcError => new GrpcError('unavailable', 'this relay stops; connect again');

/** Ends streams of a relay, and refuses calls, while NATS is away. */
export const busLost = (cause?: unknown): GrpcError =>
  new GrpcError('unavailable', 'the relay cannot reach its event bus; come back later', { cause });

/** Refuses a stream whose host the Kubernetes API did not name in time. */
export const unanswered = (): GrpcError =>
  new GrpcError('unavailable', 'the relay could not look the host up in time; come back later');

/**
 * Result of the work of a call. An error by which the relay lacks NATS or the Kubernetes API says so to the daemon,
 * whose log is the first that an operator reads. Nothing more of our insides is in it.
 */
export const explained = <T>(work: Promise<T>): Promise<T> => work.catch(explain);

/** The same function for all: a stream that waits for half a minute has no frame for it. */
function explain(error: unknown): never {
  throw explanationOf(error);
}

function explanationOf(error: unknown): unknown {
  if (error instanceof KubeError) return isSilent(callerError(error)) ? clusterLost(error) : error;
  const isOfBus = hasReason(error, 'EventBusUnavailable') && error.code === 'unavailable';
  return isOfBus ? busLost(error) : error;
}

/** Whether a caller would get the bare word. */
const isSilent = ({ code, message }: ReturnType<typeof callerError>): boolean =>
  code === 'unavailable' && message === undefined;

const clusterLost = (cause: unknown): GrpcError =>
  new GrpcError('unavailable', 'the relay cannot reach the Kubernetes API; come back later', { cause });
