import type { Clock } from '../lib/clock.ts';
import { durationOf, type HeartbeatsRequest, type HostRequest, streamElsewhere } from '../lib/edge/index.ts';
import { AppError } from '../lib/errors.ts';
import { createFairPool } from '../lib/fair-pool.ts';
import { bytesOf } from '../lib/memory-budget/index.ts';
import type { EdgeCommand } from '../proto/generated/windlass/node/v1/node.ts';
import type { SentCommands } from './sent-commands.ts';
import type { Streams } from './streams/streams.ts';

interface OrderDeps {
  readonly clock: Clock;
  readonly streams: Pick<Streams, 'get' | 'isAt' | 'endOne'>;
  readonly sent: Pick<SentCommands, 'add'>;
}

/** Orders that wait, of any size. */
export const ordersAtOnce = 4_096;

/**
 * Answers requests of `lib/edge/host-commands.ts`: only the stream that an order is for gets it. Throws AppError
 * `unavailable` where orders to hosts that do not read fill the tenant's share; the sender tries again.
 */
export function takeOrder(deps: OrderDeps): (request: { readonly body: Uint8Array }) => Promise<string> {
  // Bytes of the requests of orders that wait until they have left; one tenant has four fifths of them at most.
  const room = createFairPool({ size: bytesOf('orders to hosts'), clock: deps.clock });
  return async ({ body }) => {
    // Only processes of ours reach the bus.
    const request = JSON.parse(Buffer.from(body).toString('utf8')) as HostRequest | HeartbeatsRequest;
    if (request.kind === 'heartbeats') return JSON.stringify(heartbeatsOf(deps.streams, request));
    if (request.kind === 'drop') {
      deps.streams.endOne(request);
      return '';
    }
    const stream = deps.streams.get(request.host.hostUid);
    if (stream === undefined || !(await deps.streams.isAt(stream, request.epoch))) {
      throw new AppError('unavailable', 'this relay does not hold the stream', { reason: streamElsewhere });
    }
    using place = room.tryEnter({ tenant: request.host.tenant, cost: body.byteLength });
    if (place === undefined) throw full();
    // A quick daemon answers before the write has ended.
    if (request.kind === 'invoke') deps.sent.add(request);
    await stream.send(commandOf(request)).catch(mayHaveLeft);
    return '';
  };
}

/** The host may have read an order whose stream ended before it was written out. The sender sends it again, where the stream is then. */
function mayHaveLeft(cause: unknown): never {
  throw new AppError('timeout', 'the stream of the host ended while the order was written to it', {
    reason: 'StreamEnded',
    cause,
  });
}

const full = (): AppError =>
  new AppError('unavailable', 'too many orders wait for hosts of this tenant that do not read; try again', {
    reason: 'Overloaded',
  });

/** EDGE-RES-07: from memory, as no heartbeat is written. */
function heartbeatsOf(streams: Pick<Streams, 'get'>, { hosts }: HeartbeatsRequest): Readonly<Record<string, string>> {
  const held = hosts.flatMap((uid) => streams.get(uid) ?? []);
  return Object.fromEntries(held.map(({ uid, lastHeartbeat }) => [uid, new Date(lastHeartbeat).toISOString()]));
}

function commandOf(request: Exclude<HostRequest, { readonly kind: 'drop' }>): NonNullable<EdgeCommand['command']> {
  switch (request.kind) {
    case 'invoke': {
      const { commandId, context, tool, args, token, deadlineMs } = request.command;
      const sealEnvelope = { userSecurityToken: token, tenantId: request.host.tenant };
      const deadline = durationOf(deadlineMs);
      const value = { commandId, securityContextName: context, sealEnvelope, toolName: tool, args, deadline };
      return { $case: 'invokeTool', value };
    }
    case 'cancel':
      return { $case: 'cancel', value: { commandId: request.commandId, reason: request.reason } };
    case 'push_config':
      return { $case: 'pushConfig', value: { configDelta: Buffer.from(request.delta), version: request.version } };
    case 'drain':
      return { $case: 'drain', value: {} };
    case 'shutdown':
      return { $case: 'shutdown', value: { grace: durationOf(request.graceMs) } };
  }
}
