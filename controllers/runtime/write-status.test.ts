import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { workflows } from '../../lib/kinds.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { outcomeOfError } from './outcome.ts';
import { writeStatus } from './write-status.ts';

const object = (version: string, phase: string) =>
  ({
    metadata: { name: 'x', namespace: 'n', uid: 'u', resourceVersion: version },
    kind: 'Workflow',
    spec: { version: '1.0.0' },
    status: { phase },
  }) as unknown as Workflow;

/** Writes `status` to an API server that answers `answer`. */
function write(status: object, answer: Workflow | KubeError, options: { sparesAnswer?: boolean } = {}) {
  const calls: unknown[] = [];
  const cache = createCache<Workflow>();
  const kube = {
    jsonPatchStatus: async (resource: unknown, ref: unknown, patch: unknown) => {
      calls.push([resource, ref, patch]);
      if (answer instanceof KubeError) throw answer;
      return answer;
    },
  };
  const port = { kube: kube as never, resource: workflows, cache, ...options };
  const done = writeStatus(port, object('7', 'old'), status);
  return { done, calls, cache };
}

const refused = (status: number, message: string) =>
  new KubeError(status, { message, reason: status === 404 ? 'NotFound' : '' } as never, {
    verb: 'patch',
    resource: 'workflows/status',
    object: 'n/x',
  });

describe('the status of what is reconciled', () => {
  it('is written where it changed, and the answer is in the cache before the watch brings it', async () => {
    const { done, calls, cache } = write({ phase: 'new' }, object('8', 'new'));
    expect(await done).toMatchObject({ metadata: { resourceVersion: '8' } });
    const version = { op: 'replace', path: '/metadata/resourceVersion', value: '7' };
    const change = { op: 'replace', path: '/status/phase', value: 'new' };
    expect(calls).toEqual([[workflows, { name: 'x', namespace: 'n' }, [version, change]]]);
    expect(cache.get('n/x')).toMatchObject({ status: { phase: 'new' } });
  });

  it.each([
    { what: 'its metadata', answer: { kind: 'PartialObjectMetadata', metadata: object('8', '').metadata } },
    { what: 'the whole of it, as an old server does', answer: object('8', 'new') },
  ])('is held as it was written where the answer to a large object is $what', async ({ answer }) => {
    const { done, calls, cache } = write({ phase: 'new' }, answer as Workflow, { sparesAnswer: true });
    const { spec } = object('7', 'old');
    expect(await done).toMatchObject({ kind: object('7', 'old').kind, spec, status: { phase: 'new' } });
    expect(calls).toMatchObject([[{ metadataOnly: true }, {}, [{ value: '7' }, { value: 'new' }]]]);
    expect(cache.get('n/x')).toMatchObject({ metadata: { resourceVersion: '8' }, status: { phase: 'new' } });
  });

  it('is read from the answer where the server stores it otherwise', async () => {
    const { done, calls } = write({ phase: 'x\ud800' }, object('8', 'x\ufffd'), { sparesAnswer: true });
    expect(await done).toMatchObject({ status: { phase: 'x\ufffd' } });
    expect(calls).toMatchObject([[workflows, {}, [{ value: '7' }, {}]]]);
    expect(calls).not.toMatchObject([[{ metadataOnly: true }, {}, [{}, {}]]]);
  });

  it('is not written where nothing changed', async () => {
    const { done, calls } = write({ phase: 'old' }, object('8', 'old'));
    expect(await done).toMatchObject({ metadata: { resourceVersion: '7' } });
    expect(calls).toEqual([]);
  });

  it.each([
    { what: 'was deleted meanwhile', status: 404, message: 'workflows.windlass.dev "x" not found', kind: 'wait' },
    {
      what: 'was left behind by a namespace that is gone',
      status: 404,
      message: 'namespaces "n" not found',
      kind: 'forbidden',
    },
    {
      what: 'has no kind any more',
      status: 404,
      message: 'the server could not find the requested resource',
      kind: 'failed',
    },
    { what: 'was changed meanwhile', status: 409, message: 'the object has been modified', kind: 'conflict' },
    { what: 'cannot be written now', status: 500, message: 'oops', kind: 'failed' },
  ])('of one that $what ends the reconcile as $kind', async ({ status, message, kind }) => {
    const { done } = write({ phase: 'new' }, refused(status, message));
    expect(outcomeOfError(await done.catch((error: unknown) => error)).kind).toBe(kind);
  });
});
