import type { Problem } from '../../../crds/problem.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { AuditTrail } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { canonicalHash } from '../../../lib/definition/canonical.ts';
import { checkChildren, type FindSpec } from '../../../lib/definition/check-children.ts';
import { checkNamed, missingNames } from '../../../lib/definition/check-named.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import { shortHash } from '../../../lib/ids.ts';
import type { KubeClient, KubeObject } from '../../../lib/kube/index.ts';
import type { ManifestReader } from '../../../lib/manifest/index.ts';
import { workflowName } from '../../../lib/manifest/object-name.ts';
import { registerWorkflow, type Versioned } from '../../../lib/registration/index.ts';
import { knownNames } from '../../../lib/workflow-lookup/index.ts';
import { callsFleetTools } from '../../../lib/tools/fleet-rights.ts';
import type { Cluster } from '../../cluster/index.ts';
import { type Caller, requireFleetScope, requireOperator } from '../../../lib/identity/index.ts';
import { registerWorkflow as contract } from './contract.ts';
import { asRefusal } from './kube-refusal.ts';
import { presentIdentity } from './present.ts';
import { readWorkflowBody } from './read-body.ts';
import { inScope, namespaceOf } from './target.ts';
import { createDefinitionWriter, type DefinitionWriter } from './writer.ts';

export interface RegisterDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'tenants' | 'workflows' | 'agents' | 'informers'>;
  readonly audit: AuditTrail;
  readonly manifests: ManifestReader;
}

export function createRegisterRoute({ write, ...deps }: RegisterDeps & { readonly write: Writer }): Route<Caller> {
  return defineRoute<typeof contract, Caller>(contract, async ({ body, query: { scope, force }, caller }) => {
    if (scope === 'global') requireOperator(caller);
    const namespace = namespaceOf(deps.cluster.tenants, caller, scope);
    const { form, workflow, warnings: own } = await readWorkflowBody(deps.manifests, body, caller.tenant);
    if (callsFleetTools(workflow.spec)) requireFleetScope(caller, 'spec.states: a workflow that calls tools of hosts');
    const children = await checkChildren(workflow.spec, childrenOf(deps.cluster, caller));
    const { kind, object } = await write(inScope(workflow, scope, caller), { namespace, force });
    const missing = await missingIn(deps.cluster, { workflow, object, caller });
    const warnings = [...own, ...[...children, ...missing].map(({ path, message }) => ({ path, message }))];
    const identity = presentIdentity(object);
    const { workflow_id: subject, name, version } = identity;
    const data = { workflow: name, version, scope: identity.scope };
    const doneAt = kind === 'unchanged' ? writtenAt(object) : undefined;
    deps.audit.record({ type: 'WorkflowRegistered', by: caller, subject, act: contentId(object), doneAt, data });
    return json({
      ...identity,
      registration: kind,
      form,
      ...(warnings.length > 0 && { warnings }),
    });
  });
}

interface Registered {
  readonly workflow: Workflow;
  /** The object of it, which says where it is deployed. */
  readonly object: Workflow;
  readonly caller: Caller;
}

/** Another replica may have registered a moment ago what the caches lack: the server is asked, and fills them. */
async function missingIn(
  { agents, workflows, informers }: RegisterDeps['cluster'],
  { workflow: { spec }, object, caller }: Registered,
): Promise<readonly Problem[]> {
  const known = knownNames({ agents: informers.agents.cache, workflows: informers.workflows.cache }, object);
  const asked = missingNames(spec, known).map(({ kind, name }) =>
    kind === 'agent' ? agents.locate(caller.tenant, name) : workflows.locate(caller, name),
  );
  // The workflow is registered by now, and no failure of a look changes that.
  await Promise.allSettled(asked);
  return checkNamed(spec, known);
}

/** Definitions that a Subworkflow of the caller's may mean, as far as the cache knows them. */
function childrenOf({ workflows }: RegisterDeps['cluster'], caller: Caller): FindSpec {
  return async (wanted) => {
    const means = ({ metadata }: Workflow) => metadata.uid === wanted || workflowName(metadata) === wanted;
    const child = workflows.list(caller).find(means);
    return child && (await workflows.whole(child))?.spec;
  };
}

/** The same for a registration and its repetition: the writer may have died before recording it. */
export function contentId({ metadata: { generation, annotations, labels } }: Versioned): string {
  return shortHash(canonicalHash([generation, annotations ?? {}, labels ?? {}]));
}

/** When something other than the status was written last. */
export function writtenAt({ metadata }: KubeObject): string | undefined {
  const writes = (metadata.managedFields ?? []) as readonly { readonly subresource?: string; readonly time?: string }[];
  const times = writes.filter(({ subresource }) => subresource === undefined).map(({ time = '' }) => time);
  return times.toSorted().at(-1) ?? metadata.creationTimestamp;
}

export type Writer = DefinitionWriter<Workflow>;

export function createWriter({ kube, clock, cluster }: Pick<RegisterDeps, 'kube' | 'clock' | 'cluster'>): Writer {
  const remember = (workflow: Workflow): void => cluster.workflows.remember(workflow);
  return createDefinitionWriter({ kube, clock, register: registerWorkflow, remember, asRefusal });
}
