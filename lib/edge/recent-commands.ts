import { limits } from '../../crds/limits.ts';
import { busLimits, type EventBus, type StreamDefinition } from '../bus/index.ts';
import { isJsonObject } from '../json-object.ts';
import type { EdgeOutcome } from './edge-results.ts';

/** One of the last commands of a host (spec 2 §2.1). */
export interface RecentCommand {
  readonly command_id: string;
  readonly tool: string;
  /** RFC 3339. */
  readonly dispatched_at: string;
  /** Absent until the host has said how it ended. */
  readonly outcome?: EdgeOutcome['outcome'];
  /** As its daemon has measured it for a command that ran to its end; else from its dispatch to its result. */
  readonly duration_ms?: number;
}

/**
 * Key: node id. Each command is two messages at most, each of which says how it began, and the server keeps the newest of each host:
 * twenty commands are always among them. They are the last twenty while no more than twenty older ones end behind them.
 */
const recentCommandsStream: StreamDefinition = {
  name: 'edge_recent',
  newest: 3 * limits.hostRecentCommands,
  retention: { maxAgeMs: 30 * 86_400_000, maxBytes: 128 * 1_048_576 },
};

interface OfHost {
  readonly tenant: string;
  readonly node_id: string;
}

/** The last commands of each host, beside the records of runs, which are what counts (ADR 0074). */
export interface RecentCommands {
  /** Waits for nothing: where the bus is away the command is missing from the list. */
  sent(command: OfHost & Pick<RecentCommand, 'command_id' | 'tool' | 'dispatched_at'>): void;
  /**
   * `ended_at` gives a command without a duration of its own the time from its dispatch on. RFC 3339. `sent`: the beginning of the
   * command, where it is known: the message of `sent` may be dropped before this one comes.
   */
  ended(
    command: OfHost & {
      readonly command_id: string;
      readonly result: EdgeOutcome;
      readonly ended_at: string;
      readonly sent?: Pick<RecentCommand, 'tool' | 'dispatched_at'> | undefined;
    },
  ): void;
  /** The newest first, at most `limits.hostRecentCommands`. Throws AppError `unavailable` where the bus is away. */
  of(tenant: string, nodeId: string): Promise<RecentCommand[]>;
}

export function createRecentCommands({ bus }: { readonly bus: Pick<EventBus, 'stream'> }): RecentCommands {
  const stream = bus.stream(recentCommandsStream);
  const append = ({ tenant, node_id: key }: OfHost, id: string, message: Message): void => {
    // A command may be sent, and answered, more than once.
    stream.note({
      tenant,
      key,
      id: `edge-recent.${id}.${key}.${message.command_id}`,
      body: JSON.stringify(message),
    });
  };
  return {
    sent: ({ command_id, tool, dispatched_at, ...host }) => append(host, 'sent', { command_id, tool, dispatched_at }),
    ended({ tenant, node_id, command_id, result, ended_at, sent }) {
      const duration = result.outcome === 'ok' ? { duration_ms: result.duration_ms } : { ended_at };
      append({ tenant, node_id }, 'ended', {
        command_id,
        ...sent,
        outcome: result.outcome,
        ...duration,
      });
    },
    async of(tenant, nodeId) {
      const messages = await stream.read({ tenant, key: nodeId, after: 0, bytes: busLimits.pageBytes });
      return newest(messages.map(({ body }) => parse(body)).filter((message) => message !== undefined));
    },
  };
}

type Message = { readonly command_id: string; readonly ended_at?: string } & Partial<Omit<RecentCommand, 'command_id'>>;

/** Pure: one entry for each command whose beginning is still known, the last that was dispatched first. */
function newest(messages: readonly Message[]): RecentCommand[] {
  const commands = new Map<string, Message>();
  for (const message of messages) {
    commands.set(message.command_id, { ...commands.get(message.command_id), ...message });
  }
  const begun = [...commands.values()].filter(
    (command): command is RecentCommand & Pick<Message, 'ended_at'> =>
      command.dispatched_at !== undefined && command.tool !== undefined,
  );
  const age = ({ dispatched_at: at }: RecentCommand): number => Date.parse(at);
  const last = begun.toReversed().toSorted((a, b) => age(b) - age(a));
  return last.slice(0, limits.hostRecentCommands).map(withDuration);
}

function withDuration({ ended_at: endedAt, ...command }: RecentCommand & Pick<Message, 'ended_at'>): RecentCommand {
  if (endedAt === undefined || command.duration_ms !== undefined) return command;
  return { ...command, duration_ms: Math.max(0, Date.parse(endedAt) - Date.parse(command.dispatched_at)) };
}

/** Only relays write the stream; what cannot be read comes from another version. */
function parse(body: Uint8Array): Message | undefined {
  try {
    const message: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return isJsonObject(message) && typeof message['command_id'] === 'string' ? (message as Message) : undefined;
  } catch {
    return undefined;
  }
}
