import { createHash } from 'node:crypto';
import { apiVersion, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { CliTool, CliToolSpec } from '../../crds/schema/cli-tool.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import { defined } from '../defined.ts';
import { commandOf } from './command-of.ts';

/** The one state of the workflow of a CLI tool. */
export const toolState = 'run';

/** The workflow that an invocation of a CLI tool runs: a command, whose arguments are templates over the input. */
export function workflowSpecOf(tool: CliToolSpec): WorkflowSpec {
  const { image, image_pull_policy, registry_credentials, env, workdir, resources, input_schema } = tool;
  const seconds = tool.timeout_seconds ?? limits.cliToolTimeoutSecondsDefault;
  const container = {
    image,
    image_pull_policy,
    registry_credentials,
    command: commandOf(tool).map(({ text }) => text),
    env,
    workdir,
  };
  const content: Omit<WorkflowSpec, 'version'> = {
    description: 'Runs a CLI tool of the tool gateway.',
    input_schema,
    initial_state: toolState,
    states: {
      [toolState]: {
        kind: 'ContainerRun',
        ...defined(container),
        resources: { ...resources, timeout: `${seconds}s` },
        timeout: `${seconds + startSeconds}s`,
        transitions: [],
      },
    },
  };
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16);
  return { version: `1.0.0-h${hash}`, ...content };
}

/** The workflow of a tool in a namespace that runs it. Its name follows from the tool's uid, its version from its content. */
export function workflowOf({ metadata, spec }: CliTool, namespace: string): Workflow {
  const { uid = '', name } = metadata;
  const owner = { apiVersion, kind: 'CliTool', name, uid };
  return {
    apiVersion,
    kind: 'Workflow',
    metadata: {
      name: `cli-tool-${createHash('sha256').update(uid).digest('hex').slice(0, 40)}`,
      namespace,
      labels: { ...cliToolLabels({ metadata }), [labels.managedBy]: 'windlass' },
      ...(namespace === metadata.namespace && { ownerReferences: [owner] }),
    },
    spec: workflowSpecOf(spec),
  };
}

/** How long a pod may take to start, beside the time of the command. */
export const startSeconds = 120;

/** Labels of the workflow of a tool, and of the executions of its calls. */
export const cliToolLabels = ({ metadata }: Pick<CliTool, 'metadata'>): Record<string, string> => ({
  [labels.cliTool]: metadata.uid ?? '',
});
