import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { KubeError } from '../kube/index.ts';
import { registerWorkflow } from './register-workflow.ts';

const workflow = aWorkflow('hello').state('end', anEnd()).build();
const request = { verb: 'get', resource: 'workflows' };

it('a registration that is written has succeeded, also where its version could not be stored at once', async () => {
  const away = new KubeError(503, {}, { verb: 'create', resource: 'controllerrevisions' });
  const kube = {
    get: () => Promise.reject(new KubeError(404, { reason: 'NotFound' }, request)),
    create: async (_: unknown, object: Workflow) => object,
  };
  const deps = { kube: kube as never, keep: () => Promise.reject(away) };
  const { kind, object } = await registerWorkflow(deps, workflow, { namespace: 'team', force: false });
  expect([kind, object.metadata.name]).toEqual(['created', workflow.metadata.name]);
});

it.each([
  ['the API server has none any more', 'NotFound', 'created'],
  ['a proxy answers in place of the server', '', 'not written'],
])('a registration meets a 404: %s', async (_title, reason, want) => {
  const existing: Workflow = { ...workflow, metadata: { ...workflow.metadata, namespace: 'team', uid: 'u' } };
  const lost = new KubeError(404, { message: 'x', reason }, { verb: 'update', resource: 'workflows' });
  let isThere = true;
  const kube = {
    get: async () => {
      if (isThere) return existing;
      throw new KubeError(404, { reason: 'NotFound' }, request);
    },
    list: async () => ({ items: [], metadata: {} }),
    create: async (_: unknown, object: Workflow) => object,
    replace: () => {
      isThere = false;
      return Promise.reject(lost);
    },
  };
  const wanted = { ...workflow, spec: { ...workflow.spec, version: '2.0.0' } };
  const registered = registerWorkflow({ kube: kube as never }, wanted, { namespace: 'team', force: false });
  const ended = registered.then(
    ({ kind }) => kind,
    (error: unknown) => (error === lost ? 'not written' : error),
  );
  expect(await ended).toBe(want);
});

describe('WF-API-11 a version is fixed by the content that was accepted under it', () => {
  const ready = (status: 'True' | 'False') => [
    { type: 'Ready', status, reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const refused = { observedGeneration: 1, conditions: ready('False'), versions: [] };
  const listed = [{ version: '1.0.0', revision: 'hello-1', registered_at: '2026-01-01T00:00:00Z' }];
  const register = (status: Workflow['status']) => {
    const existing: Workflow = {
      ...aWorkflow('hello').with({ description: 'with a mistake' }).state('end', anEnd()).build(),
      status,
    };
    existing.metadata = { ...existing.metadata, namespace: 'team', uid: 'u', generation: 1, resourceVersion: '7' };
    const kube = {
      get: async () => existing,
      list: async () => ({ items: [], metadata: {} }),
      replace: async (_: unknown, object: Workflow) => object,
    };
    return registerWorkflow({ kube: kube as never }, workflow, { namespace: 'team', force: false });
  };

  it('a content that was judged and never accepted may be corrected under its version', async () => {
    expect(await register(refused)).toMatchObject({ kind: 'updated', object: { spec: workflow.spec } });
  });

  it.each<[title: string, status: Workflow['status']]>([
    ['was accepted', { ...refused, conditions: ready('True'), versions: listed }],
    ['was accepted once, and is refused today', { ...refused, versions: listed }],
    ['was not judged yet', undefined],
    ['was written since the last verdict', { ...refused, observedGeneration: 0 }],
  ])('a content that %s stays', async (_title, status) => {
    await expect(register(status)).rejects.toMatchObject({ code: 'conflict', reason: 'VersionExists' });
  });
});
