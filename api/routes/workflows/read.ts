import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { RevisionReader } from '../../../lib/registration/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { readWorkflow } from './contract.ts';
import { findVersion } from './find-version.ts';
import { findWorkflow } from './find-workflow.ts';
import { presentDefinition } from './present.ts';

interface ReadDeps {
  readonly kube: RevisionReader;
  readonly cluster: Pick<Cluster, 'workflows'>;
}

export function createReadRoute({ kube, cluster }: ReadDeps): Route<Caller> {
  return defineRoute<typeof readWorkflow, Caller>(readWorkflow, async (request) => {
    const { params, query, caller } = request;
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    const wanted = { nameOrUid: params.workflow, scope: query.scope, reserve };
    const workflow = await findWorkflow(cluster.workflows, caller, wanted);
    const spec = await findVersion(kube, workflow, query.version);
    return json(presentDefinition(workflow, spec));
  });
}
