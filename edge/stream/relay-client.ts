import {
  ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { edgeLimits, hostRevokedReason, reasonTrailer } from '../../lib/edge/index.ts';
import { AppError, type ErrorCode } from '../../lib/errors.ts';
import {
  AttestNodeRequest,
  AttestNodeResponse,
  ChallengeNodeRequest,
  ChallengeNodeResponse,
  NodeClusterServiceService as service,
  RotateEdgeKeyResponse,
} from '../../proto/generated/windlass/node/v1/node.ts';
import { daemonLimits } from '../limits.ts';
import type { RelayAddress } from '../state/host-state.ts';

/** Messages as bytes: signatures cover bytes as they are sent (requirements AMB-202). */
export type EdgeStream = ClientDuplexStream<Uint8Array, Buffer>;

/** One connection to a relay. */
export interface RelayClient extends Disposable {
  attest(request: AttestNodeRequest): Promise<AttestNodeResponse>;
  challenge(request: ChallengeNodeRequest): Promise<ChallengeNodeResponse>;
  /** The bytes of a RotateEdgeKeyRequest. */
  rotate(request: Uint8Array): Promise<RotateEdgeKeyResponse>;
  /** The stream of the host with this token. */
  connect(token: string): EdgeStream;
  /** Whether the relay answers and serves. */
  isServing(): Promise<boolean>;
}

const bytes = (value: Uint8Array): Buffer => Buffer.from(value);
const same = (value: Buffer): Buffer => value;

const channel: ClientOptions = {
  'grpc.max_receive_message_length': edgeLimits.messageBytes,
  'grpc.max_send_message_length': edgeLimits.messageBytes,
  // A network that drops packets silently is found out within a minute.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 20_000,
  // The daemon has a pause of its own between attempts, and wants a new connection for each.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
};

/** Connects at the first call. Errors of every call are AppErrors; `relayError` says their reasons. */
export function createRelayClient({ endpoint, ca, insecure }: RelayAddress): RelayClient {
  const credentials = insecure
    ? ChannelCredentials.createInsecure()
    : ChannelCredentials.createSsl(ca === undefined ? null : Buffer.from(ca));
  const client = new Client(endpoint, credentials, channel);

  function unary<T>(path: string, request: Uint8Array, decode: (answer: Uint8Array) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + daemonLimits.callMs };
      client.makeUnaryRequest(path, bytes, same, request, new Metadata(), options, (error, answer) => {
        if (error !== null) return reject(relayError(error));
        resolve(decode(answer ?? new Uint8Array()));
      });
    });
  }

  return {
    attest: (request) =>
      unary(service.attestNode.path, AttestNodeRequest.encode(request).finish(), (answer) =>
        AttestNodeResponse.decode(answer),
      ),
    challenge: (request) =>
      unary(service.challengeNode.path, ChallengeNodeRequest.encode(request).finish(), (answer) =>
        ChallengeNodeResponse.decode(answer),
      ),
    rotate: (request) => unary(service.rotateEdgeKey.path, request, (answer) => RotateEdgeKeyResponse.decode(answer)),
    connect(token) {
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${token}`);
      return client.makeBidiStreamRequest(service.connectEdge.path, bytes, same, metadata);
    },
    // HealthCheckRequest without a service; the answer's field 1 is SERVING (1).
    isServing: () =>
      unary('/grpc.health.v1.Health/Check', new Uint8Array(), (answer) => Buffer.from(answer).equals(serving)),
    [Symbol.dispose]: () => client.close(),
  };
}

const serving = Buffer.of(0x08, 0x01);

const codes: Readonly<Partial<Record<status, ErrorCode>>> = {
  [status.INVALID_ARGUMENT]: 'invalid',
  [status.UNAUTHENTICATED]: 'unauthenticated',
  [status.PERMISSION_DENIED]: 'forbidden',
  [status.NOT_FOUND]: 'not_found',
  [status.ABORTED]: 'conflict',
  [status.FAILED_PRECONDITION]: 'conflict',
  [status.RESOURCE_EXHAUSTED]: 'limit_exceeded',
  [status.DEADLINE_EXCEEDED]: 'timeout',
};

/** An error of a call; its reason is a name such as `UNAUTHENTICATED`, or `HostRevoked` where the relay says so. */
export function relayError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code = status.UNKNOWN, details = '', metadata } = error as Partial<ServiceError>;
  const name = status[code] ?? 'UNKNOWN';
  if (code === status.UNAVAILABLE && untrusted.test(details)) return untrustedRelay(details, error);
  const message = `the relay answered ${name}${details === '' ? '' : `: ${details.slice(0, 500)}`}`;
  const reason = isRevocation(code, metadata) ? hostRevokedReason : name;
  return new AppError(codes[code] ?? 'unavailable', message, { reason, cause: error });
}

/**
 * How long the relay has this host stay away, which came too soon (ADR 0169); undefined where it does not say. That of a relay which is
 * away is not for daemons: another relay takes them at once.
 */
export function pushbackMsOf(error: unknown): number | undefined {
  if (!(error instanceof AppError) || error.code !== 'limit_exceeded') return undefined;
  const { metadata } = (error.cause ?? {}) as Partial<ServiceError>;
  const asked = Number(metadata?.get('grpc-retry-pushback-ms')[0]);
  return asked > 0 ? Math.min(asked, daemonLimits.backoff.maxMs) : undefined;
}

const isRevocation = (code: status, trailers: Metadata | undefined): boolean =>
  code === status.PERMISSION_DENIED && trailers?.get(reasonTrailer)[0] === hostRevokedReason;

/** Error codes of Node and OpenSSL for a certificate that is untrusted, expired, or for another name. */
const untrusted = /certificate|altnames|self[- ]signed/i;

function untrustedRelay(details: string, cause: unknown): AppError {
  // The rest of it is advice for programs, and notes of the resolver.
  const [why = ''] = details.replace(/^.*Last error: (Error: )?/, '').split(/; if the root|\. Resolution note/);
  const message =
    `the certificate of the relay is not trusted: ${why.slice(0, 300)}; ` +
    'give its authority by windlass-edge enroll --ca FILE, and the name that the certificate has by --endpoint';
  return new AppError('unavailable', message, { reason: 'RelayUntrusted', cause });
}
