import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { AppError } from '../../../lib/errors.ts';
import type { WatchEvent } from '../../../lib/kube/index.ts';
import { KubeError } from '../../../lib/kube/kube-error.ts';
import { anExecution } from '../../../test/builders/execution-builder.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { type FollowDeps, followExecution } from './follow.ts';

const ref = { namespace: 'default', name: 'demo-1' };
const at = (resourceVersion: string, uid?: string): WorkflowExecution => {
  const execution = anExecution().build();
  return { ...execution, metadata: { ...execution.metadata, resourceVersion, ...(uid ? { uid } : {}) } };
};
type Event = WatchEvent<WorkflowExecution>;
const modified = (version: string): Event => ({ type: 'MODIFIED', object: at(version) });
const gone: Event = { type: 'ERROR', object: { code: 410, reason: 'Expired' } };
const notFound = new KubeError(404, { reason: 'NotFound', message: 'not found' }, { verb: 'get', resource: 'x' });
const forbidden = new KubeError(403, { message: 'no' }, { verb: 'watch', resource: 'x' });

/** Answers gets and watches from scripts; a watch whose script is over stays open until its signal aborts. */
function scripted(gets: (WorkflowExecution | Error)[], watches: (Event | Error)[][]) {
  const from: (string | undefined)[] = [];
  const kube = {
    async get() {
      const next = gets.shift() ?? new AppError('unavailable', 'script is over');
      if (next instanceof Error) throw next;
      return next;
    },
    async *watch(_resource: unknown, options: { resourceVersion?: string; signal?: AbortSignal }) {
      from.push(options.resourceVersion);
      for (const event of watches.shift() ?? []) {
        if (event instanceof Error) throw event;
        yield event;
      }
      if (watches.length > 0 || options.signal?.aborted) return;
      await new Promise<void>((resolve) => options.signal?.addEventListener('abort', () => resolve()));
    },
  };
  const clock = createManualClock();
  // The script is shaped as the two calls of the client that following needs.
  return { deps: { kube: kube as unknown as FollowDeps['kube'], clock }, clock, from };
}

async function versions(script: ReturnType<typeof scripted>, count: number): Promise<(string | undefined)[]> {
  const stop = new AbortController();
  const seen: (string | undefined)[] = [];
  const reading = (async () => {
    for await (const { metadata } of followExecution(script.deps, ref, stop.signal)) {
      seen.push(metadata.resourceVersion);
      if (seen.length === count) stop.abort();
    }
  })();
  for (let turn = 0; turn < 50 && !stop.signal.aborted; turn++)
    await Promise.race([script.clock.advance(5_000), reading]);
  await reading;
  return seen;
}

describe('following an execution', () => {
  it('gives the present state and each change after it', async () => {
    const bookmark: Event = { type: 'BOOKMARK', object: at('3') };
    const script = scripted([at('1')], [[modified('2'), bookmark, modified('4')]]);
    expect(await versions(script, 3)).toEqual(['1', '2', '4']);
    expect(script.from).toEqual(['1']);
  });

  it('reads anew after a watch has ended, broken or expired, and repeats nothing', async () => {
    const broken = new AppError('unavailable', 'reset');
    const script = scripted([at('1'), at('2'), at('2'), at('5')], [[modified('2')], [gone], [broken], [modified('6')]]);
    expect(await versions(script, 4)).toEqual(['1', '2', '5', '6']);
    expect(script.from).toEqual(['1', '2', '2', '5']);
  });

  it('outlasts an API server that is away', async () => {
    const away = new AppError('unavailable', 'refused');
    const script = scripted([at('1'), away, away, at('9')], [[], []]);
    expect(await versions(script, 2)).toEqual(['1', '9']);
  });

  it('gives up a watch that has gone silent', async () => {
    const script = scripted([at('1'), at('2')], [[]]);
    expect(await versions(script, 2)).toEqual(['1', '2']);
  });

  it.each<[title: string, script: ReturnType<typeof scripted>, want: object]>([
    ['the first read fails', scripted([notFound], []), { status: 404 }],
    ['the execution is deleted', scripted([at('1')], [[{ type: 'DELETED', object: at('2') }]]), { reason: 'Deleted' }],
    ['it was deleted between two reads', scripted([at('1'), notFound], [[], []]), { reason: 'Deleted' }],
    ['another one has its name', scripted([at('1'), at('2', 'other')], [[], []]), { reason: 'Deleted' }],
    ['watching is not allowed', scripted([at('1')], [[forbidden]]), { status: 403 }],
  ])('throws when %s', async (_title, script, want) => {
    await expect(versions(script, 99)).rejects.toMatchObject(want);
  });
});
