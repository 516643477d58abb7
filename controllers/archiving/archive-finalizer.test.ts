import { describe, expect, it } from 'vitest';
import { archiveFinalizer } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { type JsonPatchOperation, KubeError } from '../../lib/kube/index.ts';
import { holdForArchive, letGoOfArchive } from './archive-finalizer.ts';

const execution = (resourceVersion: string, finalizers: readonly string[] = [], uid = 'u') =>
  ({
    kind: 'WorkflowExecution',
    metadata: { name: 'x', namespace: 'n', uid, resourceVersion, finalizers },
  }) as unknown as WorkflowExecution;

const valueOf = (operation: JsonPatchOperation | undefined): unknown =>
  operation !== undefined && 'value' in operation ? operation.value : undefined;

/** Requests to a server that has this execution, or none, by a process whose cache has another one. */
function requests(stored: WorkflowExecution | undefined, known: WorkflowExecution) {
  const cache = createCache<WorkflowExecution>();
  cache.apply({ type: 'ADDED', object: known });
  const sent: string[] = [];
  const refusal = (status: 404 | 409): KubeError =>
    new KubeError(status, { reason: status === 404 ? 'NotFound' : 'Conflict' } as never, {
      verb: 'patch',
      resource: 'x',
    });
  const kube = {
    get: async () => {
      sent.push('get');
      if (stored === undefined) throw refusal(404);
      return stored;
    },
    jsonPatch: async (_resource: unknown, _ref: unknown, [version, change]: readonly JsonPatchOperation[]) => {
      sent.push('patch');
      if (stored === undefined) throw refusal(404);
      if (valueOf(version) !== stored.metadata.resourceVersion) throw refusal(409);
      stored = execution('9', valueOf(change) as readonly string[], stored.metadata.uid);
      return stored;
    },
  };
  const deps = { kube: kube as never, resource: workflowExecutions, cache };
  const finalizers = () => stored?.metadata.finalizers;
  return { deps, sent, finalizers };
}

describe('AMB-174 the finalizer of an execution whose record is to be written', () => {
  it('takes one request where the cache has the newest version', async () => {
    const known = execution('7', ['other']);
    const { deps, sent, finalizers } = requests(known, known);
    await holdForArchive(deps, known);
    expect([sent, finalizers()]).toEqual([['patch'], ['other', archiveFinalizer]]);
    await letGoOfArchive(deps, known);
    expect([sent, finalizers()]).toEqual([['patch', 'patch'], ['other']]);
  });

  it('is set on the newest version where the cache is behind, and keeps the finalizers of others', async () => {
    const known = execution('6');
    const { deps, sent, finalizers } = requests(execution('7', ['other']), known);
    await holdForArchive(deps, known);
    expect([sent, finalizers()]).toEqual([
      ['patch', 'get', 'patch'],
      ['other', archiveFinalizer],
    ]);
  });

  it('is not set on another execution of its name, or on one that is gone', async () => {
    const known = execution('6');
    const { deps, finalizers } = requests(execution('7', [], 'another'), known);
    await holdForArchive(deps, known);
    expect(finalizers()).toEqual([]);
    const { deps: ofNone, sent } = requests(undefined, known);
    await holdForArchive(ofNone, known);
    expect(sent).toEqual(['patch', 'get']);
  });
});
