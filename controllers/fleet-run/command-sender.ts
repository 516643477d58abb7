import type { KeyObject } from 'node:crypto';
import { type EventBus, isBusFull } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  createHostCommands,
  edgeNewsAddress,
  edgeResultLogs,
  hasPlace,
  mintCommandToken,
  readEdgeNews,
  sealCommand,
} from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import { commandShareUsed } from './command-room.ts';
import { fleetRunLimits } from './limits.ts';
import type { CommandSender, FleetCommand, NewsReader, CommandWithArgs } from './ports.ts';
import { serveOnBus } from './serve-on-bus.ts';

interface SenderDeps {
  readonly bus: Pick<EventBus, 'bucket' | 'request'>;
  readonly clock: Clock;
  /** Signs the commands; no relay holds it. */
  readonly edgeKey: KeyObject;
  /** Throws where this process does not lead. */
  readonly guard: () => void;
}

const addressOf = ({ tenant, target }: Pick<FleetCommand, 'tenant' | 'target'>) => ({
  tenant,
  hostUid: target.host_uid,
  nodeId: target.node_id,
});

/** Commands to hosts over the bus, each with a token of its own (design §14). */
export function createCommandSender({ bus, clock, edgeKey, guard }: SenderDeps): CommandSender {
  const hosts = createHostCommands({ bus });
  return {
    async claim({ commandId, run, tenant, tool, target, deadlineSecs }) {
      guard();
      const deadline = new Date(clock.now() + deadlineSecs * 1_000).toISOString();
      try {
        return await hosts.claim({ commandId, run, node_id: target.node_id, tenant, tool, deadline });
      } catch (error) {
        // The share of the tenant is looked at before the key.
        if (!(error instanceof AppError) || (error.code !== 'limit_exceeded' && !isBusFull(error))) throw error;
        if ((await hosts.recordOf(commandId)) !== undefined) return false;
        if (error.code !== 'limit_exceeded') throw error;
        throw new AppError(error.code, error.message, { reason: commandShareUsed, cause: error });
      }
    },
    roomFor: (tenant, commands) => hosts.roomFor(tenant, commands),
    recordOf: ({ commandId }) => hosts.recordOf(commandId),
    async seal(command, goodUntil) {
      const { commandId, run, tool, args, securityContext: context, deadlineSecs } = command;
      const token = await tokenOf(command, edgeKey, { now: clock.now(), goodUntil });
      return sealCommand({ commandId, run, tool, args, context, token, deadlineMs: deadlineSecs * 1_000 });
    },
    async send(command, sealed) {
      guard();
      await hosts.sendSealed(addressOf(command), sealed);
    },
    cancel: (command, reason) => hosts.cancel(addressOf(command), { commandId: command.commandId, reason }),
  };
}

interface TokenTimes {
  readonly now: number;
  readonly goodUntil: number;
}

function tokenOf(command: CommandWithArgs, edgeKey: KeyObject, { now, goodUntil }: TokenTimes): Promise<string> {
  const { commandId, tenant: tid, tool, args, securityContext: context, deadlineSecs, author, target } = command;
  return mintCommandToken(edgeKey, {
    author,
    tid,
    node: target.node_id,
    commandId,
    tool,
    args,
    context,
    deadlineSeconds: deadlineSecs,
    now,
    lifeMs: goodUntil - now,
  });
}

interface NewsReaderDeps {
  readonly bus: Pick<EventBus, 'logs' | 'serve'>;
  readonly clock: Clock;
  readonly turns: TurnGate;
}

/**
 * The log of results, page by page: a reader has to know when it has seen all that is stored. Values of a host's answer may
 * take fifty times its bytes, so that no two of a page are in memory, and few pages of all runs.
 */
export function createNewsReader({ bus, clock, turns }: NewsReaderDeps): NewsReader {
  const logs = bus.logs(edgeResultLogs);
  const pages = createFairPool({ size: fleetRunLimits.newsPages, clock });
  return {
    async *read({ tenant, run, after, signal }) {
      using _place = await pages.enter({ tenant, signal });
      const page = await logs.read({ tenant, key: run, after, bytes: fleetRunLimits.newsPageBytes });
      for (const { sequence, body, time } of page) {
        await turns.enter(tenant);
        yield { sequence, storedAt: Date.parse(time), news: readEdgeNews(body) };
      }
    },
    async has({ tenant, run, place, signal }) {
      using _place = await pages.enter({ tenant, signal });
      return await hasPlace(logs, { tenant, key: run, place });
    },
    listen(run, onNews) {
      const hear = async (): Promise<string> => {
        onNews();
        return '';
      };
      const responder = serveOnBus(bus, edgeNewsAddress(run), hear, { replicas: 'every' });
      // Messages that came before the server knew of the listener.
      void responder?.ready.then(onNews);
      return { [Symbol.asyncDispose]: async () => responder?.close(0) };
    },
  };
}
