import type { KeyObject } from 'node:crypto';
import type { FleetRunReason } from '../../../crds/conditions.ts';
import { type EventBus, isBusFull } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { createHostCommands, mintCommandToken, sealCommand } from '../../../lib/edge/index.ts';
import { AppError } from '../../../lib/errors.ts';
import type { CommandSender, CommandWithArgs, FleetCommand } from './command.ts';

/** Reason of a run, and code of a host: the commands of the tenant have no room. */
export const commandShareUsed = 'CommandShareUsed' satisfies FleetRunReason;

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
