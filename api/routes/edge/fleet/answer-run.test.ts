import { text as textOfStream } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../crds/limits.ts';
import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import { systemClock } from '../../../../lib/clock.ts';
import { lost } from '../../../../lib/output-store/packed.ts';
import { collectGarbage } from '../../../../lib/process/collect-garbage.ts';
import { answerRun } from './answer-run.ts';
import { createRunRecords } from './records.ts';
import type { FleetRunView } from './schema.ts';

const mebibyte = 1_048_576;
const hostsPerPart = 500;
const tail = 'x'.repeat(limits.fleetTailBytes - 8);
const nameOf = (host: number): string => `00000000-0000-4000-8000-${String(host).padStart(12, '0')}`;
const record = (host: number) => ({
  node_id: nameOf(host),
  command_id: nameOf(host),
  outcome: 'ok',
  exit_code: 0,
  duration_ms: 1,
  stdout_tail: `${host} ${tail}`,
  stderr_tail: `${host} ${tail}`,
});
const partOf = (ref: string): Buffer => {
  const from = Number(ref.slice(1)) * hostsPerPart;
  return Buffer.from(JSON.stringify(Array.from({ length: hostsPerPart }, (_, at) => record(from + at))));
};

/** A run over so many hosts, of which the last one was never sent its command, with its record. */
function aRun(hosts: number, gone?: string) {
  const targets = Array.from({ length: hosts + 1 }, (_, host) => ({ node_id: nameOf(host) }));
  const stored = Buffer.from(JSON.stringify({ resolved: targets, skipped: [] }));
  const parts = Array.from({ length: hosts / hostsPerPart }, (_, at) => `p${at}`);
  const run: FleetRun = {
    apiVersion: 'windlass.dev/v1',
    kind: 'FleetRun',
    metadata: { name: 'r', namespace: 'acme', uid: 'u' },
    spec: { target: { All: null }, tool: 'cmd.run', requested_by: 'ada' },
    status: {
      phase: 'Ended',
      reason: 'Completed',
      targets_ref: { ref: 'targets', bytes: stored.length, nodes: hosts + 1 },
      per_node_ref: parts.map((ref) => ({ ref, bytes: partOf(ref).length, nodes: hostsPerPart })),
    },
  };
  const read = async ({ ref }: { readonly ref: string }): Promise<Buffer> => {
    if (ref === gone) throw lost(ref, 'no such ConfigMap');
    return ref === 'targets' ? stored : partOf(ref);
  };
  const bus = { request: () => expect.fail('the run has ended') };
  return { run, records: createRunRecords({ clock: systemClock, outputs: () => read, bus }) };
}

async function ask(hosts: number, gone?: string) {
  const { run, records } = aRun(hosts, gone);
  const reserved: number[] = [];
  const reserve = async (bytes: number): Promise<void> => void reserved.push(bytes);
  return { reserved, reply: await answerRun(records, { run, open: [] }, { reserve }) };
}

const heap = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

describe('the answer with each host of a run', () => {
  it('EDGE-REST-37 has thousands of hosts with both tails, and takes the memory of one part', async () => {
    const before = heap();
    const { reserved, reply } = await ask(4_000);
    let [bytes, most, looked] = [0, 0, 0];
    if (reply.kind === 'json') most = heap() - before;
    if (reply.kind !== 'stream') throw new Error(`${reply.kind} of ${Math.round(most / mebibyte)} MiB`);
    for await (const piece of reply.stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes - looked < 10 * mebibyte) continue;
      looked = bytes;
      most = Math.max(most, heap() - before);
    }
    expect(bytes / mebibyte).toBeGreaterThan(31);
    expect(most / mebibyte).toBeLessThan(16);
    expect(reserved.map((one) => Math.round(one / mebibyte))).toEqual([8]);
  }, 120_000);

  it('EDGE-REST-37 is the same text for a program that reads a stream, and for a tool', async () => {
    const { reply } = await ask(hostsPerPart);
    if (reply.kind !== 'stream') throw new Error(reply.kind);
    const view = JSON.parse(await textOfStream(reply.stream)) as FleetRunView;
    expect(view.per_node).toHaveLength(hostsPerPart + 1);
    expect(view.per_node.at(-1)).toMatchObject({ node_id: nameOf(hostsPerPart), outcome: 'not_started' });
    expect(await reply.whole?.()).toEqual(view);
  });

  it.each(['p0', 'p1', 'targets'])('names no host where %s is lost', async (gone) => {
    const { reply } = await ask(2 * hostsPerPart, gone);
    expect(reply).toMatchObject({ kind: 'json', value: { per_node: [], records_lost: true } });
  });
});
