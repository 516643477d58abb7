import { expect, it } from 'vitest';
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
