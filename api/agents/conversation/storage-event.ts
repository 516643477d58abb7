import type { BusEvent, EventSink } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { volumeOf } from '../../../lib/tools/path-rules.ts';
import type { ToolArguments, ToolCaller } from '../../../lib/tools/tool.ts';

const operations: Readonly<Record<string, 'read' | 'write'>> = {
  'fs.read': 'read',
  'fs.list': 'read',
  'fs.grep': 'read',
  'fs.glob': 'read',
  'fs.write': 'write',
  'fs.edit': 'write',
  'fs.multi_edit': 'write',
  'fs.create_dir': 'write',
  'fs.delete': 'write',
};

/** A call of a file tool that has ended. */
export interface FileCall {
  readonly id: string;
  readonly tool: string;
  readonly args: ToolArguments;
  /** RFC 3339. */
  readonly time: string;
  /** `denied`: the policy refused it, and nothing was touched. */
  readonly outcome: 'ok' | 'error' | 'denied';
}

interface StorageDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly events: EventSink;
  readonly caller: ToolCaller;
}

/** Raises the event of a call that has ended now; none where it is no fact of a volume. */
export function raiseStorageEvent({ clock, events, caller }: StorageDeps, call: Omit<FileCall, 'time'>): void {
  const event = storageEvent(caller, { ...call, time: new Date(clock.now()).toISOString() });
  if (event !== undefined) events.raise(event);
}

/** Length limit of a path, in UTF-16 units; a longer one is cut. */
const pathLength = 1_024;

/**
 * That an agent has read or written a volume, or was refused (spec 1 §2.6, §6; requirements WF-STOR-14, ORCH-EVT-01).
 * Undefined for other tools, and for paths that belong to no volume. It holds the path, and nothing of the content.
 */
export function storageEvent(caller: ToolCaller, { id, tool, args, time, outcome }: FileCall): BusEvent | undefined {
  const operation = Object.hasOwn(operations, tool) ? operations[tool] : undefined;
  const { path } = args;
  if (operation === undefined || typeof path !== 'string') return undefined;
  const place = volumeOf(caller, path);
  if (place === undefined) return undefined;
  const { tenant, namespace, executionId = '', agent } = caller;
  const data = {
    operation,
    tool,
    volume: place.volume,
    path: place.path.slice(0, pathLength).toWellFormed(),
    outcome,
    execution_id: executionId,
    agent_id: agent?.uid,
    namespace,
  };
  const eventId = `${executionId}-storage-${id}`;
  return {
    id: eventId,
    topic: 'volume',
    source: 'api',
    type: 'StorageEvent',
    subject: executionId,
    tenant,
    time,
    data,
  };
}
