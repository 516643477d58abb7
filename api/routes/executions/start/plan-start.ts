import { annotations } from '../../../../crds/labels.ts';
import { readyOf } from '../../../../crds/ready.ts';
import type { Workflow, WorkflowSpec } from '../../../../crds/schema/workflow.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../../../crds/schema/workflow-execution.ts';
import { isUid } from '../../../../crds/uid.ts';
import { scopeOf } from '../../../../lib/workflow-lookup/index.ts';
import type { RequestBodyOf } from '../../../../lib/http/contract.ts';
import { HttpError } from '../../../../lib/http/index.ts';
import { buildExecution, validatedVersion } from '../../../../lib/execution/build-execution.ts';
import { inputOf } from '../../../../lib/execution/input-of.ts';
import { inputProblems } from '../../../../lib/json-schema/input-problems.ts';
import { workflowName } from '../../../../lib/manifest/index.ts';
import type { startExecution } from './contract.ts';

export type StartBody = RequestBodyOf<typeof startExecution>;

/**
 * Throws 422 where the newest definition was refused and no stored version is asked for. One that has not been judged
 * yet may start: its execution waits for the verdict.
 */
export function assertReady(workflow: Workflow, version: string | undefined): void {
  const isStored = workflow.status?.versions?.some((row) => row.version === version) ?? false;
  const ready = readyOf(workflow);
  if (isStored || ready?.status !== 'False') return;
  const message = `workflow ${workflowName(workflow.metadata)} cannot run: ${ready.reason}: ${ready.message}`;
  throw new HttpError({ code: 'invalid', status: 422, error: 'workflow_not_ready', message });
}

/** requirements WF-API-09, AMB-056: throws 422 with every failing path, or with a hundred and how many more there are. */
export function assertInput({ input_schema: schema }: WorkflowSpec, input: StartBody['input']): void {
  const details = inputProblems(schema, input === undefined ? {} : inputOf(input));
  const [first] = details;
  if (first === undefined) return;
  const message = `${first.path} ${first.message}`;
  throw new HttpError({ code: 'invalid', status: 422, error: 'input validation failed', message, details });
}

/** Name of an execution, and its caller. */
interface StartedBy {
  readonly name: string;
  readonly namespace: string;
  readonly subject: string;
  readonly marks?: Readonly<Record<string, string>>;
  /** Hash of the request, where another one under the same name must be distinguished. */
  readonly request?: string;
}

/** The object to create. It names the version that its input was checked against wherever that is unambiguous. */
export function executionOf(workflow: Workflow, body: StartBody, started: StartedBy): WorkflowExecution {
  const { metadata } = workflow;
  const version = body.version ?? validatedVersion(workflow);
  const { name, namespace, subject, request, marks } = started;
  const { name: _, workflow: _workflow, version: _version, input, ...rest } = body;
  const asked = input === undefined ? rest : { ...rest, input: inputOf(input) };
  return buildExecution({
    name,
    namespace,
    workflow: { reference: reference(workflow, body.workflow), object: metadata.name, uid: metadata.uid, version },
    spec: asked,
    annotations: {
      ...marks,
      [annotations.startedBy]: subject,
      ...(request === undefined ? {} : { [annotations.request]: request }),
    },
  });
}

/** A name where the controllers find the same workflow by it, else the uid: they know of no user's own workflows. */
function reference(workflow: Workflow, asked: string): WorkflowExecutionSpec['workflow'] {
  const byName = scopeOf(workflow) !== 'user' && !isUid(asked);
  return byName ? workflowName(workflow.metadata) : (workflow.metadata.uid ?? asked);
}
