import { randomUUID } from 'node:crypto';
import type { ServerCredentials } from '@grpc/grpc-js';
import type { EventBus } from '../../lib/bus/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createEdgeResults, createRecentCommands, edgeLimits, relayAddress } from '../../lib/edge/index.ts';
import type { StrangerLimits } from '../../lib/grpc/connections/port-connections.ts';
import type { GrpcListener } from '../../lib/grpc/listen-grpc.ts';
import { createReceivedMessages, type ReceivedMessages } from '../../lib/grpc/receive/received-messages.ts';
import { newId } from '../../lib/ids.ts';
import type { KeyPair } from '../../lib/keys/private-key.ts';
import type { Logger } from '../../lib/logger.ts';
import type { HostStore } from '../../relay/hosts/host-store.ts';
import { LateAcks } from '../../relay/late-acks.ts';
import { ordersAtOnce, takeOrder } from '../../relay/orders.ts';
import { SentCommands } from '../../relay/sent-commands.ts';
import { serveRelay } from '../../relay/serve-grpc.ts';
import { Streams } from '../../relay/streams/streams.ts';
import { silentLogger } from './silent-logger.ts';

export interface TestRelay {
  readonly relayId: string;
  readonly listener: GrpcListener;
  readonly streams: Streams;
  readonly bus: EventBus;
  readonly received: ReceivedMessages;
}

export interface TestRelayOptions {
  readonly bus: EventBus;
  readonly hosts: HostStore;
  readonly relayKey: KeyPair;
  readonly edgePublicKey: KeyPair['publicKey'];
  readonly clock?: Clock;
  /** Its `x-forwarded-for` counts, so that each daemon of a test may come from an address of its own. */
  readonly proxies?: readonly string[];
  /** Default: plain text. */
  readonly credentials?: ServerCredentials;
  readonly isWorker?: boolean;
  readonly streamsMax?: number;
  readonly strangers?: StrangerLimits;
  readonly heartbeatMs?: number;
  readonly staleMs?: number;
  readonly overlapMs?: number;
  readonly logger?: Logger;
  /** Room for messages that are not handled; default: that of the process. */
  readonly received?: Omit<Parameters<typeof createReceivedMessages>[0], 'clock' | 'stopping'>;
}

/** The gRPC server of a relay and its requests over the bus, at a port of the loopback; hosts are where the test says. */
export async function startTestRelay(options: TestRelayOptions): Promise<TestRelay> {
  const { bus, hosts, relayKey, edgePublicKey, clock = systemClock } = options;
  const { logger = silentLogger } = options;
  const relayId = randomUUID();
  const recent = createRecentCommands({ bus });
  const { heartbeatMs, staleMs, overlapMs } = { ...edgeLimits, ...options };
  const streams = new Streams({ clock, logger, bus, hosts, relayId, staleMs, heartbeatMs });
  const sent = new SentCommands({ clock, recent, stopping: new AbortController().signal });
  const stopping = new AbortController().signal;
  const received = createReceivedMessages({ clock, stopping, bytes: 80 * 1_048_576, ...options.received });
  await bus.serve(relayAddress(relayId), takeOrder({ clock, streams, sent }), { atOnce: ordersAtOnce }).ready;
  const listener = await serveRelay(
    {
      clock,
      logger,
      newId,
      bus,
      hosts,
      streams,
      relayKey,
      edgePublicKey,
      results: createEdgeResults({ bus, clock }),
      recent,
      sent,
      acks: new LateAcks(clock),
      nodeTokenMs: 86_400_000,
      overlapMs,
      heartbeatMs,
      received,
    },
    {
      port: 0,
      host: '127.0.0.1',
      proxies: new Set(options.proxies),
      credentials: options.credentials,
      isWorker: options.isWorker ?? false,
      streamsMax: options.streamsMax,
      strangers: options.strangers,
    },
  );
  return { relayId, listener, streams, bus, received };
}
