import { limits } from '../../../../crds/limits.ts';
import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import {
  answerText,
  createOutputTexts,
  type EdgeChunk,
  type EdgeNews,
  type FollowedNews,
  type OutputText,
  type OutputTexts,
} from '../../../../lib/edge/index.ts';
import { type NodeRecord, tailOf } from '../../../../lib/fleet/node-record.ts';
import { type EventPlace, endId, errorId, hasRead, logId, recordId, recordsRead } from './event-ids.ts';
import type { FleetDeps, RunRecords } from './ports.ts';
import { isEnded, summaryOf } from './present.ts';
import type { Chunk, FleetEvent, Result } from './schema.ts';

/** How long nothing must come of a run that has ended until all of it has been read: results are looked for twice a second. */
const quietMs = 1_100;
/** Bytes of an answer in an event: escaped as JSON, it fits what a stream may hold for its client. */
const answerBytes = 16_384;

type EventDeps = Pick<FleetDeps, 'clock' | 'results' | 'runNews' | 'records'>;

interface Followed {
  readonly tenant: string;
  /** The uid of the run. A stream that held the run would hold its arguments for hours. */
  readonly uid: string;
  /** Events that the client has. */
  readonly after: EventPlace;
  readonly signal: AbortSignal;
}

/**
 * The events of a run (spec 2 §4.5) until it ends, each host with one result. First is what the hosts said, then what
 * the controllers alone know, such as timeouts. At last come why it was refused or halted, and the whole. A client that comes back
 * gets a result again where the log has dropped it meanwhile: no other result is taken for it.
 */
export async function* fleetEvents(deps: EventDeps, followed: Followed): AsyncGenerator<FleetEvent> {
  const { after, uid, signal } = followed;
  const sent = new Set<string>();
  const texts = createOutputTexts();
  for await (const { news, place } of newsOf(deps, followed)) {
    // EDGE-FLOW-11: nothing of a command counts after its result.
    if (sent.has(news.command_id)) continue;
    // A result that is behind the client is known to it.
    if (news.kind === 'result') sent.add(news.command_id);
    for (const [slot, event] of eventsOf(news, texts)) {
      if (!hasRead(after, place, slot)) yield { ...event, id: logId(place, slot) };
    }
  }
  const ended = deps.runNews.current(uid);
  if (!signal.aborted && ended !== undefined) yield* lastEvents(deps, ended, { sent, after });
}

/** Events of the hosts, until the run has ended and no more comes. */
async function* newsOf(deps: EventDeps, { tenant, uid, signal }: Followed): AsyncGenerator<FollowedNews> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const iterator = deps.results.follow(tenant, uid, until)[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    while (!signal.aborted) {
      using waiting = createWait(until);
      const woken = wakeOf(deps, uid, waiting.signal);
      const first = await Promise.race([next, woken]);
      if (first === 'over') return;
      if (first === 'changed') continue;
      if (first.done === true) return;
      yield first.value;
      next = iterator.next();
    }
  } finally {
    over.abort();
    void next.catch(() => undefined);
  }
}

/** A signal for one wait, which ends with its block. */
function createWait(outer: AbortSignal) {
  const own = new AbortController();
  return { signal: AbortSignal.any([outer, own.signal]), [Symbol.dispose]: () => own.abort() };
}

/** `over`: the run has ended, or is gone, and nothing has come for a while. */
async function wakeOf({ clock, runNews }: EventDeps, uid: string, signal: AbortSignal): Promise<'over' | 'changed'> {
  const changed = runNews.changed(uid, signal);
  const run = runNews.current(uid);
  if (run !== undefined && !isEnded(run)) {
    await changed;
    return 'changed';
  }
  await clock.sleep(quietMs, signal);
  return 'over';
}

type Unnumbered = FleetEvent extends infer E ? (E extends FleetEvent ? Omit<E, 'id'> : never) : never;

/** Places of the events of one message, which depend on no other message. Up to two texts are left over. */
const slots = { leftOver: 0, answer: 2, result: 3 } as const;
type Slotted = readonly [slot: number, event: Unnumbered];

/**
 * The events of one piece of news: none where a chunk is a part of one character. A result has before it what such a part
 * left, and the answer of a tool that puts nothing out.
 */
function eventsOf(news: EdgeNews, texts: OutputTexts): Slotted[] {
  const { node_id, command_id } = news;
  const progress =
    (first: number) =>
    (chunk: Chunk, index: number): Slotted => [
      first + index,
      { event: 'command_progress', data: { node_id, command_id, chunk } },
    ];
  if (news.kind === 'progress') return chunksOf(command_id, news.chunk, texts).map(progress(0));
  const result = { node_id, command_id, result: resultOf(news.result) };
  const answer = tailOf('payload' in news.result ? answerText(news.result.payload) : '', answerBytes);
  return [
    ...texts.end(command_id).map(textChunk).map(progress(slots.leftOver)),
    ...(answer === '' ? [] : [progress(slots.answer)({ stdout: answer }, 0)]),
    [slots.result, { event: 'command_result', data: result }],
  ];
}

function chunksOf(commandId: string, chunk: EdgeChunk, texts: OutputTexts): Chunk[] {
  if ('cut' in chunk) return [{ status: 'more output followed, which is not kept' }];
  if ('state' in chunk) return [{ status: chunk.message === '' ? chunk.state : `${chunk.state}: ${chunk.message}` }];
  const text = texts.next(commandId, chunk.stream, Buffer.from(chunk.data, 'base64'));
  return text === '' ? [] : [textChunk({ stream: chunk.stream, text })];
}

const textChunk = ({ stream, text }: OutputText): Chunk => (stream === 'stdout' ? { stdout: text } : { stderr: text });

function resultOf(result: Extract<EdgeNews, { kind: 'result' }>['result']): Result {
  switch (result.outcome) {
    case 'ok':
      return { ok: { exit_code: result.exit_code, duration_ms: result.duration_ms } };
    case 'err':
      return { err: { code: result.code, message: result.message, ...exitOf(result) } };
    case 'timed_out':
      return { timed_out: { deadline_ms: result.deadline_ms } };
    case 'cancelled':
      return { cancelled: { reason: result.reason } };
  }
}

/** The protocol has 0 where there was no process: an error of one that ended has another code. */
const exitOf = ({ exit_code: exit }: { readonly exit_code: number }) => (exit === 0 ? {} : { exit_code: exit });

interface CommandResult {
  readonly node_id: string;
  readonly command_id: string;
  readonly result: Result;
}

/** Bytes of recorded results that a stream holds: its client may not read on (`unreadLimits.aheadBytes`). */
const pageBytes = 128 * 1024;

interface Sent {
  /** Commands whose result the client has from the log. */
  readonly sent: ReadonlySet<string>;
  readonly after: EventPlace;
}

/** Results of records, each with how many records there were up to it. A client that comes back has the first ones. */
async function* recordedEvents({ records }: EventDeps, run: FleetRun, { sent, after }: Sent) {
  const { per_target_deadline_secs: seconds = limits.fleetDeadlineSecsDefault } = run.spec.policy ?? {};
  const said = new Set(sent);
  let count = 0;
  // Without the tails, which no event has.
  const take = (record: NodeRecord): (CommandResult & { readonly count: number }) | undefined => {
    const { node_id, command_id } = record;
    count += 1;
    if (count <= recordsRead(after) || said.has(command_id)) return undefined;
    said.add(command_id);
    const result = recordedResults[record.outcome](record, seconds * 1_000);
    return result === undefined ? undefined : { count, node_id, command_id, result };
  };
  for await (const page of records.pages(run, { take, bytes: pageBytes })) yield* page;
}

/** AMB-105: `error` comes before `fleet_result`. */
async function* lastEvents(deps: EventDeps, run: FleetRun, client: Sent): AsyncGenerator<FleetEvent> {
  for await (const { count, ...data } of recordedEvents(deps, run, client)) {
    yield { id: recordId(count), event: 'command_result', data };
  }
  const data = errorOf(run);
  if (data !== undefined && client.after.kind !== 'error') yield { id: errorId, event: 'error', data };
  yield resultEvent(run, await deps.records.targets(run));
}

/** Why the run was refused or halted (AMB-106); undefined where it was neither. */
function errorOf({ status }: FleetRun): { readonly reason: string; readonly message: string } | undefined {
  const { outcome, reason = 'Halted', message = 'the failure policy has stopped the run' } = status ?? {};
  if (outcome === 'halted') return { reason: 'Halted', message };
  return outcome === 'refused' ? { reason, message } : undefined;
}

function resultEvent(run: FleetRun, { resolved, skipped }: Awaited<ReturnType<RunRecords['targets']>>): FleetEvent {
  const data = {
    fleet_command_id: run.metadata.uid ?? '',
    targets_resolved: resolved.map(({ node_id }) => node_id),
    targets_skipped: [...skipped],
    summary: summaryOf(run),
  };
  return { id: endId, event: 'fleet_result', data };
}

/** The result of each outcome, as its record tells it; a host that was never sent the command has none. */
const recordedResults: Readonly<
  Record<NodeRecord['outcome'], (record: NodeRecord, deadlineMs: number) => Result | undefined>
> = {
  not_started: () => undefined,
  ok: ({ exit_code: exit, duration_ms: duration }) => ({ ok: { exit_code: exit ?? 0, duration_ms: duration ?? 0 } }),
  err: ({ code = 'Failed', message = '', exit_code: exit }) => ({
    err: { code, message, ...(exit !== null && { exit_code: exit }) },
  }),
  timed_out: ({ deadline_ms: own }, asked) => ({ timed_out: { deadline_ms: own ?? asked } }),
  cancelled: ({ message = '' }) => ({ cancelled: { reason: message } }),
};
