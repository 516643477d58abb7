import type { FleetRunReason } from '../../../crds/conditions.ts';
import type { KeyRoom } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { commandShareUsed } from '../commands/command-sender.ts';
import type { CommandSender } from '../commands/command.ts';
import type { StatedReason } from '../status.ts';
import { NotYet } from './not-yet.ts';

interface RoomDeps {
  readonly sender: Pick<CommandSender, 'roomFor'>;
  readonly clock: Clock;
}

/** Commands of a run, beside those that the other runs of its tenant have yet to send (`OpenViews.wish`). */
interface Commands {
  readonly hosts: number;
  readonly unsent: number;
}

/**
 * Why a run over so many hosts would send a part of its commands alone; undefined: all of them fit into the share of the tenant,
 * beside those of its runs under way (ADR 0167). Throws NotYet where other tenants have the room, and AppError `unavailable` where the
 * bus is away.
 */
export async function lackOfShare(
  { sender, clock }: RoomDeps,
  tenant: string,
  { hosts, unsent }: Commands,
): Promise<StatedReason | undefined> {
  const found = await sender.roomFor(tenant, hosts + unsent);
  if (found.room >= hosts + unsent) return undefined;
  if (found.untilRoomMs === undefined && found.most >= hosts + unsent) throw new NotYet(othersHaveIt);
  return { reason: commandShareUsed, message: textOf(found, { hosts, unsent, now: clock.now() }) };
}

/** Commands of others end at times that are no business of the tenant. */
const othersHaveIt = {
  reason: 'BucketFull' satisfies FleetRunReason,
  message:
    'the commands of the run fit into the share of the tenant, and commands of other tenants have the room for now (nats.keys.maxMb)',
  againMs: 10_000,
};

interface Wanted extends Commands {
  readonly now: number;
}

function textOf({ used, room, untilRoomMs, most }: KeyRoom, { hosts, unsent, now }: Wanted): string {
  const left = Math.max(0, room - unsent);
  const others = unsent === 0 ? '' : ` beside ${unsent} that its runs under way have yet to send`;
  const later =
    hosts > most
      ? 'so many have no room at any time: take fewer hosts'
      : 'room for all of them is back two days after those runs';
  const back =
    untilRoomMs === undefined ? later : `room for all of them is back at ${new Date(now + untilRoomMs).toISOString()}`;
  return `${hosts} commands do not fit: the tenant has sent ${used} commands of hosts in two days and has room for ${left} more${others} (nats.keys.maxMb); ${back}`;
}
