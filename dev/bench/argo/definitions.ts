import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  defineResource,
  isAlreadyExists,
  type KubeClient,
  type KubeObject,
} from '../../../lib/kube/index.ts';
import { waitForObject } from '../../../test/cluster/harness/wait.ts';

const group = 'argoproj.io';
const version = 'v1alpha1';

interface Kind {
  readonly kind: string;
  readonly cluster?: true;
  readonly status?: true;
}

/** Kinds that the controller of Argo watches from its start on; those with `status` write it as a subresource. */
const kinds: readonly Kind[] = [
  { kind: 'Workflow' },
  { kind: 'WorkflowTemplate' },
  { kind: 'ClusterWorkflowTemplate', cluster: true },
  { kind: 'CronWorkflow' },
  { kind: 'WorkflowTaskSet', status: true },
  { kind: 'WorkflowTaskResult' },
  { kind: 'WorkflowArtifactGCTask', status: true },
  { kind: 'WorkflowEventBinding' },
];

const nameOf = ({ kind }: Kind): string => `${kind.toLowerCase()}s.${group}`;

/** Definitions that accept every field, as the small ones do that Argo itself installs by default. */
function definitionOf({ kind, cluster, status }: Kind): CustomResourceDefinition {
  const singular = kind.toLowerCase();
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const subresources = status === undefined ? {} : { subresources: { status: {} } };
  return {
    metadata: { name: nameOf({ kind }) },
    spec: {
      group,
      scope: cluster === undefined ? 'Namespaced' : 'Cluster',
      names: { kind, listKind: `${kind}List`, plural: `${singular}s`, singular },
      versions: [{ name: version, served: true, storage: true, schema, ...subresources }],
    },
  };
}

/** Makes the kinds that are missing, and gives a function that deletes those again, with all of their objects. */
export async function installDefinitions(kube: KubeClient): Promise<() => Promise<void>> {
  const made: string[] = [];
  for (const kind of kinds) {
    const name = nameOf(kind);
    const definition = definitionOf(kind);
    const isNew = await kube.create(customResourceDefinitions, definition).then(
      () => true,
      (error: unknown) => {
        if (isAlreadyExists(error)) return false;
        throw error;
      },
    );
    if (isNew) made.push(name);
    await waitForObject(kube, { resource: customResourceDefinitions, name }, isEstablished);
  }
  return async () => {
    for (const name of made) await kube.delete(customResourceDefinitions, { name });
  };
}

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') === true;

/** The fields of a Workflow of Argo that the benchmark reads. */
export interface ArgoWorkflow extends KubeObject {
  readonly spec?: object;
  readonly status?: { readonly phase?: string; readonly message?: string };
}

export const argoWorkflows = defineResource<ArgoWorkflow>({
  group,
  version,
  plural: 'workflows',
  kind: 'Workflow',
  namespaced: true,
});
