import type { InvokeFleetEvent, ServerEvent } from '../../client/index.ts';

/** How the command of one host is doing. */
export type HostPhase = 'waiting' | 'running' | 'ok' | 'err' | 'timed_out' | 'cancelled' | 'not_started';

/** One host of a run. */
export interface HostProgress {
  readonly id: string;
  readonly name: string;
  readonly phase: HostPhase;
  /** The last line of its output, or why it has failed. */
  readonly said: string;
  readonly exitCode?: number;
  readonly durationMs?: number;
}

/** The known state of a run. */
export interface FleetState {
  /** By id, in the order in which they became known. */
  readonly hosts: ReadonlyMap<string, HostProgress>;
  readonly error?: { readonly reason: string; readonly message: string };
  readonly end?: FleetEndEvent;
}

type Of<Key extends string> = Extract<InvokeFleetEvent, Readonly<Record<Key, unknown>>>;
type FleetEndEvent = Of<'summary'>;
export type FleetChunk = Of<'chunk'>;
type FleetResult = Of<'result'>;
export type FleetServerEvent = ServerEvent<InvokeFleetEvent>;

/** Before the first event: the hosts that the target is now. */
export function fleetStateOf(hosts: readonly { readonly node_id: string; readonly name: string }[]): FleetState {
  const waiting = hosts.map(({ node_id: id, name }) => [id, hostOf(id, name)] as const);
  return { hosts: new Map(waiting) };
}

const hostOf = (id: string, name = id): HostProgress => ({ id, name, phase: 'waiting', said: '' });

/** The state after one more event. */
export function afterEvent(state: FleetState, data: InvokeFleetEvent): FleetState {
  if ('chunk' in data) return changed(state, data.node_id, (host) => afterChunk(host, data));
  if ('result' in data) return changed(state, data.node_id, (host) => ({ ...host, ...resultOf(host, data) }));
  if ('summary' in data) return afterEnd(state, data);
  return { ...state, error: data };
}

function changed(state: FleetState, id: string, change: (host: HostProgress) => HostProgress): FleetState {
  return { ...state, hosts: new Map(state.hosts).set(id, change(state.hosts.get(id) ?? hostOf(id))) };
}

function afterChunk(host: HostProgress, { chunk }: FleetChunk): HostProgress {
  if (host.phase !== 'waiting' && host.phase !== 'running') return host;
  const said = lastLine(textOf(chunk)) ?? host.said;
  return { ...host, phase: 'running', said };
}

/** Text of a piece of output. */
function textOf(chunk: FleetChunk['chunk']): string {
  if ('stdout' in chunk) return chunk.stdout;
  return 'stderr' in chunk ? chunk.stderr : chunk.status;
}

/** The last line that is not empty. */
const lastLine = (text: string): string | undefined => text.trimEnd().split('\n').at(-1)?.trim() || undefined;

function resultOf(host: HostProgress, { result }: FleetResult): Partial<HostProgress> {
  if ('ok' in result) return { phase: 'ok', exitCode: result.ok.exit_code, durationMs: result.ok.duration_ms };
  if ('err' in result) {
    const { code, message, exit_code: exitCode } = result.err;
    return { phase: 'err', said: `${code}: ${message}`, ...(exitCode !== undefined && { exitCode }) };
  }
  if ('timed_out' in result) return { phase: 'timed_out', said: host.said, durationMs: result.timed_out.deadline_ms };
  return { phase: 'cancelled', said: result.cancelled.reason || host.said };
}

/** Hosts of the preview that the run did not resolve are none of its hosts; those without a result were not started. */
function afterEnd(state: FleetState, end: FleetEndEvent): FleetState {
  const hosts = end.targets_resolved.map((id) => {
    const host = state.hosts.get(id) ?? hostOf(id);
    return [
      id,
      host.phase === 'waiting' || host.phase === 'running' ? { ...host, phase: 'not_started' as const } : host,
    ] as const;
  });
  return { ...state, hosts: new Map(hosts), end };
}
