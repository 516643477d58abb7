import { LRUCache } from 'lru-cache';
import type { EventBus, KeyRoom } from '../bus/index.ts';
import { AppError, hasReason, type SharedReason } from '../errors.ts';
import { bytesOf } from '../memory-budget/index.ts';
import { createSharedCache, entryWith, sharesOf } from '../shared-cache.ts';
import { type CommandRecord, edgeBuckets, type HeldStream } from './buckets.ts';
import { edgeUnavailableReason, isEdgeUnavailable } from './edge-unavailable.ts';
import { edgeLimits } from './limits.ts';

/** The stream of a host. */
export interface HostAddress {
  readonly tenant: string;
  /** uid of the EdgeHost. */
  readonly hostUid: string;
  readonly nodeId: string;
}

/** A tool to be run on a host. */
interface InvokeCommand {
  /** UUID; `commandIdOf`. */
  readonly commandId: string;
  /** uid of the FleetRun, or another id under which its results are read. */
  readonly run: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Name of the security context that the daemon applies. */
  readonly context: string;
  /** From `mintCommandToken`. */
  readonly token: string;
  readonly deadlineMs: number;
}

/** The record of a command and its revision, as its sender has written it. */
export interface ClaimedCommand {
  readonly record: CommandRecord;
  readonly revision: number;
}

/** The request to the relay that holds the stream, as JSON. */
export type HostRequest = { readonly host: HostAddress; readonly epoch: number } & (
  | {
      readonly kind: 'invoke';
      readonly command: InvokeCommand;
      /** Spares the relay a look-up. Absent where another process has claimed the command. */
      readonly claim?: ClaimedCommand;
    }
  | { readonly kind: 'cancel'; readonly commandId: string; readonly reason: string }
  | { readonly kind: 'push_config'; readonly delta: string; readonly version: string }
  | { readonly kind: 'drain' }
  | { readonly kind: 'shutdown'; readonly graceMs: number }
  | { readonly kind: 'drop'; readonly reason: string }
);
/** Another request to a relay, as JSON: when it heard these hosts last. The answer has those that it holds. */
export interface HeartbeatsRequest {
  readonly kind: 'heartbeats';
  /** uids of EdgeHosts. */
  readonly hosts: readonly string[];
}

/** An InvokeCommand as it leaves, without the values of its arguments. */
export interface SealedCommand {
  readonly commandId: string;
  readonly json: string;
}

type Order<T> = T extends unknown ? Omit<T, 'host' | 'epoch'> : never;
type HostOrder = Exclude<Order<HostRequest>, { readonly kind: 'invoke' }>;

/** The question to a relay: fields of the request, and the text of its command. */
interface Asked {
  readonly order: HostOrder | { readonly kind: 'invoke'; readonly claim?: ClaimedCommand };
  readonly command?: string;
}

/** Requests to one relay, by its id. */
export const relayAddress = (relay: string) => ({ service: 'relay.host', key: relay });

/** Sends commands to hosts, wherever their streams are. */
export interface HostCommands {
  /**
   * Remembers a command before it is sent: false where it was claimed before, so that each is sent once. Throws AppError
   * `unavailable` where the bus is away, and ShareUsedError where the tenant has too many commands.
   */
  claim(record: CommandRecord & { readonly commandId: string }): Promise<boolean>;
  /** Whether the tenant may claim so many commands now. It claims none. */
  roomFor(tenant: string, commands: number): Promise<KeyRoom>;
  /** The known state of a command; undefined where none was claimed, or it is too long ago. */
  recordOf(commandId: string): Promise<CommandRecord | undefined>;
  /**
   * Resolves when the command is written to the host's stream. Throws AppError `unavailable` with the reason
   * `EdgeUnavailable` where no relay holds one, and `Overloaded` where its relay takes no order now: the command was not sent
   * (`isUnsent`). Any other error, such as `timeout`, leaves open whether it was: send the same command again, which the daemon runs once.
   */
  send(host: HostAddress, command: InvokeCommand): Promise<void>;
  /** The same for one whose arguments need not be in memory until the relay answers. */
  sendSealed(host: HostAddress, command: SealedCommand): Promise<void>;
  /** The same for an order that is no command. Each may be repeated. */
  cancel(host: HostAddress, order: { readonly commandId: string; readonly reason: string }): Promise<void>;
  pushConfig(host: HostAddress, order: { readonly delta: string; readonly version: string }): Promise<void>;
  drain(host: HostAddress): Promise<void>;
  shutdown(host: HostAddress, graceMs: number): Promise<void>;
  /** Ends the stream of a host that is revoked; does nothing where there is none. */
  drop(host: HostAddress, reason: string): Promise<void>;
}

/** Places of streams that a process remembers. */
const placesMax = 20_000;
/** How long a relay gets for an answer: it waits until the stream has room. */
const answerMs = 10_000;

interface Place {
  readonly relay: string;
  readonly epoch: number;
}

export function createHostCommands({ bus }: { readonly bus: Pick<EventBus, 'bucket' | 'request'> }): HostCommands {
  const commands = bus.bucket<CommandRecord>(edgeBuckets.commands);
  const askRelay = createOrder(bus);
  const order = (host: HostAddress, what: HostOrder) => askRelay(host, { order: what });
  /** Until their commands are sent. */
  const claims = createSharedCache<ClaimedCommand>({
    ...sharesOf(bytesOf('claims of commands')),
    weigh: ({ record }, key) => entryWith(key, ...Object.values(record).filter((value) => typeof value === 'string')),
  });
  async function sendSealed(host: HostAddress, { commandId, json }: SealedCommand): Promise<void> {
    const claim = claims.get(host.tenant, commandId);
    await askRelay(host, { order: { kind: 'invoke', ...(claim === undefined ? {} : { claim }) }, command: json });
    claims.delete(host.tenant, commandId);
  }
  return {
    async claim({ commandId, ...record }) {
      const revision = await commands.create(commandId, record, record.tenant);
      if (revision !== undefined) claims.set(record.tenant, commandId, { record, revision });
      return revision !== undefined;
    },
    roomFor: (tenant, wanted) => commands.roomFor(tenant, wanted),
    recordOf: async (commandId) => (await commands.get(commandId))?.value,
    send: async (host, command) => sendSealed(host, sealCommand(command)),
    sendSealed,
    cancel: (host, what) => order(host, { kind: 'cancel', ...what }),
    pushConfig: (host, what) => order(host, { kind: 'push_config', ...what }),
    drain: (host) => order(host, { kind: 'drain' }),
    shutdown: (host, graceMs) => order(host, { kind: 'shutdown', graceMs }),
    drop: (host, reason) =>
      order(host, { kind: 'drop', reason }).catch((error: unknown) => {
        if (!isEdgeUnavailable(error)) throw error;
      }),
  };
}

/** Sends an order to the relay that held the stream last, and once more to where the stream has moved since. */
function createOrder(bus: Pick<EventBus, 'bucket' | 'request'>) {
  const streams = bus.bucket<HeldStream>(edgeBuckets.streams);
  const places = new LRUCache<string, Place>({ max: placesMax });

  async function find({ hostUid }: HostAddress): Promise<Place> {
    const entry = await streams.get(hostUid);
    if (entry?.value.relay === undefined) throw edgeUnavailable();
    const place = { relay: entry.value.relay, epoch: entry.revision };
    places.set(hostUid, place);
    return place;
  }

  async function ask(host: HostAddress, { order, command }: Asked, { relay, epoch }: Place): Promise<void> {
    const rest = JSON.stringify({ ...order, host, epoch });
    const body = command === undefined ? rest : `${rest.slice(0, -1)},"command":${command}}`;
    await bus.request(relayAddress(relay), body, { timeoutMs: answerMs });
  }

  return async (host: HostAddress, what: Asked): Promise<void> => {
    const known = places.get(host.hostUid);
    try {
      return await ask(host, what, known ?? (await find(host)));
    } catch (error) {
      if (!isElsewhere(error)) throw error;
      places.delete(host.hostUid);
      if (known === undefined) throw edgeUnavailable(error);
    }
    await ask(host, what, await find(host)).catch((error: unknown) => {
      throw isElsewhere(error) ? edgeUnavailable(error) : error;
    });
  };
}

const edgeUnavailable = (cause?: unknown): AppError =>
  new AppError('unavailable', 'the host is offline: no relay holds a stream of it', {
    reason: edgeUnavailableReason,
    cause,
  });

/** The relay is gone, or holds another stream of the host, or none. */
const isElsewhere = (error: unknown): boolean => hasReason(error, 'NoResponders') || hasReason(error, streamElsewhere);

/** Reason of a relay that does not hold the stream that a request is for. */
export const streamElsewhere = 'EdgeStreamElsewhere' satisfies SharedReason;

/** Throws AppError `limit_exceeded` where its arguments are too large. */
export function sealCommand(command: InvokeCommand): SealedCommand {
  assertSized(command);
  return { commandId: command.commandId, json: JSON.stringify(command) };
}

function assertSized({ args }: InvokeCommand): void {
  const bytes = Buffer.byteLength(JSON.stringify(args));
  if (bytes <= edgeLimits.argsBytes) return;
  throw new AppError('limit_exceeded', `args have ${bytes} bytes of JSON; at most ${edgeLimits.argsBytes} are taken`, {
    reason: 'ArgumentsTooLarge',
  });
}
