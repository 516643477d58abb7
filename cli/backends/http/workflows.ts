import {
  WindlassApiError,
  type WindlassClient,
  type WorkflowDefinition,
  type WorkflowSummary,
} from '../../../client/index.ts';
import { apiVersion } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../../crds/schema/workflow-manifest.ts';
import { defined } from '../../../lib/defined.ts';
import { AppError } from '../../../lib/errors.ts';
import type { KubeObject } from '../../../lib/kube/index.ts';
import { toCustomResource, toManifest } from '../../../lib/manifest/convert.ts';
import type {
  ListQuery,
  RegistrationResult,
  RegistrationTarget,
  RegistrationVerdict,
  WorkflowBackend,
  WorkflowRow,
} from '../backend.ts';
import { noWorkflow } from '../refusals.ts';
import { allPages } from './all-pages.ts';
import type { HttpDeps } from './deps.ts';
import { notFoundHere, onlyKubernetes } from './refusals.ts';

/** Definitions as the API shows them. */
export function createWorkflows(deps: HttpDeps): WorkflowBackend {
  const { client } = deps;
  return {
    register: (workflow, options) => register(client, workflow, options),
    verdict: ({ metadata }) => verdictOn(client, metadata.uid ?? ''),
    list: (options) => list(client, options),
    read: async (nameOrUid, version) => {
      return workflowOf(await found(deps, nameOrUid, client.readWorkflow({ workflow: nameOrUid, version })));
    },
    versions: async (nameOrUid) => {
      const { versions } = await found(deps, nameOrUid, client.listWorkflowVersions({ workflow: nameOrUid }));
      return versions.map(({ version, current, registered_at }) => ({ version, current, registeredAt: registered_at }));
    },
    delete: async (nameOrUid, scope) => {
      const { name } = await found(deps, nameOrUid, client.deleteWorkflow({ workflow: nameOrUid, scope }));
      return name;
    },
    promote: (workflow, { to: scope, force }) =>
      found(deps, workflow, client.promoteWorkflow({ workflow, scope, force })),
    demote: (workflow, { to: scope, force }) =>
      found(deps, workflow, client.demoteWorkflow({ workflow, scope, force })),
  };
}

async function register(
  client: WindlassClient,
  workflow: Workflow,
  { scope, force }: RegistrationTarget,
): Promise<RegistrationResult> {
  const body = JSON.stringify(toManifest(workflow));
  const {
    workflow_id: uid,
    registration,
    warnings,
  } = await client.registerWorkflow({ body, scope, force }).catch((error: unknown) => Promise.reject(refusalOf(error)));
  return {
    result: registration,
    workflow: { ...workflow, metadata: { ...workflow.metadata, uid } },
    where: `at ${scope} scope`,
    ...defined({ warnings }),
  };
}

/** That a version exists is said as it is when it is found out here. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof WindlassApiError) || error.status !== 409) return error;
  const [what] = /^version .* exists with other content[^;]*/.exec(error.message) ?? [];
  return what === undefined ? error : new AppError('conflict', what, { reason: 'VersionExists' });
}

async function verdictOn(client: WindlassClient, uid: string): Promise<RegistrationVerdict | undefined> {
  const { ready, reason = notJudged, message = '' } = await client.readWorkflow({ workflow: uid });
  if (ready) return { accepted: true };
  return reason === notJudged ? undefined : { accepted: false, reason, message };
}

/** The reason of a workflow that the controllers have not looked at. */
const notJudged = 'Pending';

async function list(client: WindlassClient, { everywhere, timeoutMs }: ListQuery): Promise<WorkflowRow[]> {
  if (everywhere) throw onlyKubernetes('--all-namespaces', 'You see the workflows that you can run.');
  return allPages(async (cursor) => {
    const { workflows, next_cursor: next } = await client.listWorkflows(
      { cursor, limit: limits.pageSizeMax },
      { timeoutMs },
    );
    return { rows: workflows.map(rowOf), next };
  });
}

function rowOf(summary: WorkflowSummary): WorkflowRow {
  const { name, version, scope, ready, reason = notJudged, message, created_at: createdAt, description } = summary;
  return {
    name,
    version,
    scope,
    ready: ready ? 'True' : reason === notJudged ? 'Unknown' : 'False',
    createdAt,
    description,
    message,
    object: objectOf(summary),
  };
}

/** A workflow in a list of the API, under the names of the custom resource. */
function objectOf(summary: WorkflowSummary): KubeObject {
  const { workflow_id: uid, name, created_at: creationTimestamp, labels, ...fields } = summary;
  const { version, description, ...rest } = fields;
  const object = {
    apiVersion,
    kind: 'Workflow',
    metadata: { name, uid, creationTimestamp, labels },
    spec: { version, description },
    ...rest,
  };
  return object;
}

/** The custom resource that the manifest is the other form of. */
function workflowOf(definition: WorkflowDefinition): Workflow {
  const {
    workflow_id: uid,
    created_at,
    scope: _,
    ready: __,
    reason: ___,
    message: ____,
    conditions,
    ...manifest
  } = definition;
  const { metadata, spec, ...rest } = toCustomResource(manifest as unknown as WorkflowManifest);
  return {
    ...rest,
    // In the order in which Kubernetes gives them.
    spec: Object.fromEntries(Object.entries(spec).toSorted(byKey)) as Workflow['spec'],
    metadata: { ...metadata, uid, creationTimestamp: created_at },
    status: { conditions: conditions as NonNullable<Workflow['status']>['conditions'] },
  };
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function found<T>({ words }: HttpDeps, nameOrUid: string, answer: Promise<T>): Promise<T> {
  return notFoundHere(answer, noWorkflow(nameOrUid, words));
}
