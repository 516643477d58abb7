import { Readable } from 'node:stream';
import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import type { NodeRecord } from '../../../../lib/fleet/node-record.ts';
import { json } from '../../../../lib/http/index.ts';
import type { Reply } from '../../../../lib/http/route.ts';
import type { FleetDeps } from './ports.ts';
import { presentNode, presentRunSummary } from './present.ts';

interface FoundRun {
  readonly run: FleetRun;
  /** Outcomes that the record lacks. */
  readonly open: readonly NodeRecord[];
}

type Reserve = { readonly reserve: (bytes: number) => Promise<void> };

/** A record of more bytes is sent part by part: ten thousand hosts with two tails each have 85 MB. */
const wholeBytes = 1_048_576;
/** A part is in memory as values, and its hosts as they are shown. */
const copies = 2;
const pieceBytes = 32_768;

/** The answer with `per_node` (ADR 0176). */
export async function answerRun(records: FleetDeps['records'], found: FoundRun, request: Reserve): Promise<Reply> {
  const { run, open } = found;
  const sizes = (run.status?.per_node_ref ?? []).map(({ bytes }) => bytes);
  sizes.push(Buffer.byteLength(JSON.stringify(open)));
  const all = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const whole = async (): Promise<object> => {
    // Each host may take two tails.
    await request.reserve(all);
    const nodes = await records.perNode(run, open);
    return { ...presentRunSummary(run), per_node: (nodes ?? []).map(presentNode), ...lostMark(nodes) };
  };
  if (all <= wholeBytes) return json(await whole());
  await request.reserve(copies * Math.max(...sizes));
  const parts = await records.parts(run, open);
  if (parts === undefined) return json({ ...presentRunSummary(run), per_node: [], ...lostMark(parts) });
  const stream = Readable.from(textOf(run, parts), { objectMode: false, highWaterMark: pieceBytes });
  return { kind: 'stream', stream, mediaType: 'application/json', whole };
}

const lostMark = (nodes: unknown) => (nodes === undefined ? { records_lost: true as const } : {});

async function* textOf(run: FleetRun, parts: AsyncIterable<readonly NodeRecord[]>): AsyncGenerator<string> {
  yield `${JSON.stringify(presentRunSummary(run)).slice(0, -1)},"per_node":[`;
  let before = '';
  for await (const part of parts) {
    for (const text of itemsOf(part)) {
      yield before + text;
      before = ',';
    }
  }
  yield ']}';
}

/** Some hosts at a time, so that no text of a whole part is made in one turn of the event loop. */
function* itemsOf(part: readonly NodeRecord[]): Generator<string> {
  for (let at = 0; at < part.length; at += hostsAtOnce)
    yield part
      .slice(at, at + hostsAtOnce)
      .map((record) => JSON.stringify(presentNode(record)))
      .join(',');
}
const hostsAtOnce = 10;
