import { ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import type { EventBus } from '../lib/bus/index.ts';
import { type EdgeResults, edgeLimits, type RecentCommands } from '../lib/edge/index.ts';
import type { ReportDeps } from '../lib/grpc/call-report.ts';
import { createHealth } from '../lib/grpc/health.ts';
import type { StrangerLimits } from '../lib/grpc/connections/port-connections.ts';
import { type GrpcListener, type GrpcService, listenGrpc } from '../lib/grpc/listen-grpc.ts';
import type { ReceivedMessages } from '../lib/grpc/receive/received-messages.ts';
import { createReflection, serveReflection } from '../lib/grpc/reflection.ts';
import { sized, sizedAll } from '../lib/grpc/sized.ts';
import { serveStream } from '../lib/grpc/stream/serve-stream.ts';
import { type OpenCall, serveOpen } from '../lib/grpc/unary/serve-open.ts';
import { descriptorSet } from '../proto/generated/descriptors.ts';
import { ServerReflectionService } from '../proto/generated/grpc/reflection/v1/reflection.ts';
import { HealthService } from '../proto/generated/health/v1/health.ts';
import {
  type AttestNodeRequest,
  type AttestNodeResponse,
  type ChallengeNodeRequest,
  type ChallengeNodeResponse,
  NodeClusterServiceService,
  type RotateEdgeKeyResponse,
} from '../proto/generated/windlass/node/v1/node.ts';
import { explained } from './explained.ts';
import { createKeyHolders } from './hosts/key-holders.ts';
import type { LateAcks } from './late-acks.ts';
import { addressOf, createAttestLimit } from './rpc/attest-limit.ts';
import { createChallengeLimit } from './rpc/challenge-limit.ts';
import { attestNode, challengeNode, type EnrollDeps } from './rpc/enroll.ts';
import { type RotateDeps, rotateEdgeKey } from './rpc/rotate.ts';
import { createRotateLimit } from './rpc/rotate-limit.ts';
import type { TrustedProxies } from './rpc/trusted-proxies.ts';
import type { SentCommands } from './sent-commands.ts';
import { connectEdge } from './streams/connect-edge.ts';
import type { Streams } from './streams/streams.ts';

interface RelayGrpcDeps extends ReportDeps, EnrollDeps, Omit<RotateDeps, 'keyHolders' | 'rotations'> {
  readonly bus: Pick<EventBus, 'bucket' | 'problem'>;
  readonly streams: Streams;
  readonly results: Pick<EdgeResults, 'publish'>;
  readonly recent: Pick<RecentCommands, 'ended'>;
  readonly sent: Pick<SentCommands, 'find' | 'take' | 'noteEnded' | 'hasEnded'>;
  readonly acks: Pick<LateAcks, 'add'>;
  /** Messages of daemons that have come and are not handled. */
  readonly received: ReceivedMessages;
}

interface RelayGrpcOptions {
  readonly port: number;
  readonly host?: string | undefined;
  /** Absent: HTTP/2 cleartext. */
  readonly credentials?: ServerCredentials | undefined;
  /** Proxies whose `x-forwarded-for` counts. */
  readonly proxies: TrustedProxies;
  /** A Worker serves no edge method: they answer UNIMPLEMENTED (AMB-111). */
  readonly isWorker: boolean;
  /** Streams of all hosts. Default: 20,000; the largest load that the bench knows is 10,000. */
  readonly streamsMax?: number | undefined;
  /** Default: that of the process. */
  readonly strangers?: StrangerLimits | undefined;
}

const services = [
  'windlass.node.v1.NodeClusterService',
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
];

/** Opens the gRPC listener of the relay. */
export function serveRelay(deps: RelayGrpcDeps, options: RelayGrpcOptions): Promise<GrpcListener> {
  const health = createHealth(services);
  const draining = new AbortController();
  const { port, host, credentials, isWorker, proxies, strangers } = options;
  const reflection = createReflection(Buffer.from(descriptorSet, 'base64'), services);
  return listenGrpc({
    clock: deps.clock,
    port,
    ...(host === undefined ? {} : { host }),
    credentials: credentials ?? ServerCredentials.createInsecure(),
    health,
    maxMessageBytes: edgeLimits.messageBytes,
    onDrain: () => draining.abort(),
    received: deps.received,
    proxies,
    clientOf: (address, forwarded) => addressOf(address, forwarded, proxies),
    // A daemon has a stream, and a rotation beside it. An ingress carries many daemons over one connection.
    connections: { ageMs: 'none', calls: 16, proxyCalls: 2_000, strangers },
    services: [
      ...(isWorker ? [] : [nodeService({ ...deps, ...ofRotations(deps) }, options, draining.signal)]),
      { definition: bounded(HealthService), implementation: { ...health.implementation } },
      {
        definition: bounded(ServerReflectionService),
        implementation: { serverReflectionInfo: serveReflection(reflection) },
      },
    ],
  });
}

const ofRotations = ({ hosts, clock }: RelayGrpcDeps): Pick<RotateDeps, 'keyHolders' | 'rotations'> => ({
  keyHolders: createKeyHolders(hosts),
  rotations: createRotateLimit(clock),
});

/** Anybody may call it. */
const bounded = (service: ServiceDefinition): ServiceDefinition => sizedAll(service, edgeLimits.unaryBytes);

type NodeDeps = RelayGrpcDeps & RotateDeps;

const raw = (bytes: Buffer): Buffer => bytes;
const rawOut = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function nodeService(deps: NodeDeps, options: RelayGrpcOptions, draining: AbortSignal): GrpcService {
  const { proxies, streamsMax = 20_000 } = options;
  const take = createAttestLimit(deps);
  const limit = createChallengeLimit(deps.clock);
  const clientOf = ({ address, header }: Pick<OpenCall<unknown>, 'address' | 'header'>): string =>
    addressOf(address, header('x-forwarded-for'), proxies);
  const {
    attestNode: attest,
    challengeNode: challenge,
    rotateEdgeKey: rotate,
    connectEdge: connect,
  } = NodeClusterServiceService;
  const connected = connectEdge({ ...deps, draining, streamsMax });
  return {
    definition: {
      attestNode: sized(attest, edgeLimits.unaryBytes),
      challengeNode: sized(challenge, edgeLimits.unaryBytes),
      rotateEdgeKey: sized({ ...rotate, requestSerialize: raw, requestDeserialize: raw }, edgeLimits.unaryBytes),
      connectEdge: { ...connect, requestSerialize: raw, requestDeserialize: raw, responseSerialize: rawOut },
    },
    implementation: {
      attestNode: serveOpen<AttestNodeRequest, AttestNodeResponse>(deps, 'attestNode', async (call) => {
        await explained(take(clientOf(call)));
        return attestNode(deps, call.request);
      }),
      challengeNode: serveOpen<ChallengeNodeRequest, ChallengeNodeResponse>(deps, 'challengeNode', (call) =>
        explained(challengeNode({ ...deps, limit }, call.request, clientOf(call))),
      ),
      rotateEdgeKey: serveOpen<Buffer, RotateEdgeKeyResponse>(deps, 'rotateEdgeKey', (call) =>
        explained(rotateEdgeKey(deps, call.request, clientOf(call))),
      ),
      connectEdge: serveStream<Buffer, Uint8Array>(
        { ...deps, draining },
        { operation: 'connectEdge', certificate: 'optional', atOnce: streamsMax },
        (pipe) => explained(connected(pipe)),
      ),
    },
  };
}
