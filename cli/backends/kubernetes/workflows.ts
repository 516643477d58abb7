import { globalNamespace } from '../../../crds/labels.ts';
import { readyOf } from '../../../crds/ready.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { workflows } from '../../../lib/kinds.ts';
import { isForbidden } from '../../../lib/kube/kube-error.ts';
import { workflowName } from '../../../lib/manifest/object-name.ts';
import { readWorkflow, registerWorkflow, specOfVersion } from '../../../lib/registration/index.ts';
import { byName, scopeOf, type WorkflowScope } from '../../../lib/workflow-lookup/scope.ts';
import type { CliError } from '../../exit-codes.ts';
import type {
  ListQuery,
  RegistrationResult,
  RegistrationTarget,
  RegistrationVerdict,
  VersionRow,
  WorkflowBackend,
  WorkflowRow,
} from '../backend.ts';
import { noWorkflow } from '../refusals.ts';
import type { KubernetesDeps } from './deps.ts';
import { inNamespace, listedIn } from './known-namespace.ts';
import { onlyTheApi } from './only-the-api.ts';

/** The workflow of that name or uid, here or else in the global namespace: where the controller looks as well. */
async function findWorkflow(
  { kube, namespace, words }: Pick<KubernetesDeps, 'kube' | 'namespace' | 'words'>,
  nameOrUid: string,
  scope?: WorkflowScope,
): Promise<Workflow> {
  for (const place of placesOf(namespace, scope)) {
    const reading = readWorkflow(kube, place, nameOrUid);
    const found = await (place === globalNamespace ? unlessRefused(reading) : reading);
    if (found) return found;
  }
  throw noWorkflow(nameOrUid, words);
}

/** A user of one tenant may not be allowed to read the global namespace: then nothing is there for them. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

function placesOf(namespace: string, scope: WorkflowScope | undefined): readonly string[] {
  if (scope === 'user') throw onlyTheApi('workflows of user scope are known to the API only');
  if (scope === 'global') return [globalNamespace];
  return scope === undefined ? [...new Set([namespace, globalNamespace])] : [namespace];
}

/** Definitions as custom resources. */
export function createWorkflows(deps: KubernetesDeps): WorkflowBackend {
  const { kube } = deps;
  const find = (nameOrUid: string, scope?: WorkflowScope) => inNamespace(deps, findWorkflow(deps, nameOrUid, scope));
  return {
    register: (workflow, options) => inNamespace(deps, register(deps, workflow, options)),
    verdict: async ({ metadata }) => {
      const { name, namespace, generation = 0 } = metadata;
      return verdictOn(await kube.get(workflows, { namespace, name }), generation);
    },
    list: (options) => list(deps, options),
    read: async (nameOrUid, version) => {
      const workflow = await find(nameOrUid);
      return { ...workflow, spec: await specOfVersion(kube, workflow, version) };
    },
    versions: async (nameOrUid) => versionsOf(await find(nameOrUid)),
    delete: async (nameOrUid, scope) => {
      const found = await find(nameOrUid, scope);
      const { name, namespace, uid } = found.metadata;
      await kube.delete(workflows, { namespace, name }, { uid });
      return workflowName(found.metadata);
    },
    promote: () => Promise.reject(onlyTheApiMoves()),
    demote: () => Promise.reject(onlyTheApiMoves()),
  };
}

function onlyTheApiMoves(): CliError {
  const otherwise = ', or register the workflow in the other scope and delete it in this one';
  return onlyTheApi('only the API moves workflows between scopes', otherwise);
}

async function register(
  { kube, namespace }: KubernetesDeps,
  workflow: Workflow,
  { scope, force }: RegistrationTarget,
): Promise<RegistrationResult> {
  if (scope === 'user') {
    throw onlyTheApi('workflows of user scope are known to the API only', ', or leave out --scope');
  }
  const target = scope === 'global' ? globalNamespace : namespace;
  const { kind, object } = await registerWorkflow({ kube }, workflow, { namespace: target, force });
  return { result: kind, workflow: object, where: `in ${target}` };
}

async function list(deps: KubernetesDeps, { everywhere, timeoutMs }: ListQuery): Promise<WorkflowRow[]> {
  const { kube, namespace } = deps;
  if (everywhere) return (await kube.listAll(workflows, { timeoutMs })).items.map(rowOf);
  const { items } = await kube.listAll(workflows, { namespace, timeoutMs });
  await listedIn(deps, items);
  if (namespace === globalNamespace) return items.map(rowOf).toSorted(byName);
  const global = await unlessRefused(kube.listAll(workflows, { namespace: globalNamespace, timeoutMs }));
  return [...items, ...(global?.items ?? [])].map(rowOf).toSorted(byName);
}

function rowOf(workflow: Workflow): WorkflowRow {
  const { metadata, spec } = workflow;
  const ready = readyOf(workflow);
  return {
    name: workflowName(metadata),
    version: spec.version,
    scope: scopeOf(workflow),
    ready: ready?.status ?? 'Unknown',
    createdAt: metadata.creationTimestamp,
    description: spec.description,
    message: ready?.message,
    namespace: metadata.namespace,
    states: Object.keys(spec.states).length,
    object: workflow,
  };
}

function versionsOf({ spec, status }: Workflow): VersionRow[] {
  return (status?.versions ?? []).map(({ version, registered_at, revision }) => ({
    version,
    current: version === spec.version,
    registeredAt: registered_at,
    revision,
  }));
}

function verdictOn(workflow: Workflow, generation: number): RegistrationVerdict | undefined {
  const ready = readyOf(workflow, generation);
  if (ready?.status === 'True') return { accepted: true };
  return ready?.status === 'False' ? { accepted: false, reason: ready.reason, message: ready.message } : undefined;
}
