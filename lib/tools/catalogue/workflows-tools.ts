import { anything, choice, flag, pathText, row, text, type ToolRow, whole, words } from './row.ts';

/** Tools about workflows and their executions (spec 3 §10.1, §10.2). */
export const workflowsTools: readonly ToolRow[] = [
  row({
    name: 'svc.workflow.delete',
    description: 'Deletes a workflow with all its versions.',
    required: { name: text('Name.') },
    optional: { scope: choice(['user', 'tenant', 'global'], 'Where it is; default: the narrowest that has it.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.workflow.run',
    description: 'Starts an execution of a workflow.',
    required: { name: text('Name.') },
    optional: { input: anything('Input of the execution.'), version: text('Version; default: the newest.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.workflow.generate',
    description: 'Has the agent workflow-author write a manifest; answers it with its problems.',
    required: { input: text('Description in natural language.') },
    optional: { timeout_secs: whole('Seconds to wait at most.', { minimum: 1, maximum: 300, default: 60 }) },
    marks: ['judged'],
  }),
  row({
    name: 'svc.workflow.promote',
    description: 'Moves a workflow to a wider scope; operators alone may, so a tool call is refused.',
    optional: {
      name: text('Name of the workflow.'),
      scope: choice(['user', 'tenant', 'global'], 'Scope to move it to.'),
      force: flag('Whether another workflow of that name there is replaced.', false),
    },
    marks: ['judged'],
  }),
  row({
    name: 'svc.workflow.demote',
    description: 'Moves a workflow to a narrower scope; operators alone may, so a tool call is refused.',
    optional: {
      name: text('Name of the workflow.'),
      scope: choice(['user', 'tenant', 'global'], 'Scope to move it to.'),
      force: flag('Whether another workflow of that name there is replaced.', false),
    },
    marks: ['judged'],
  }),
  row({
    name: 'svc.execute.intent',
    description:
      'Starts the workflow whose name fits an intent, else has workflow-author write one; answers pipeline_execution_id.',
    required: { intent: text('The intent.') },
    optional: {
      input: anything('Input of the pipeline; default: the wish as prompt.'),
      timeout_secs: whole('Seconds to wait at most.', { minimum: 1, maximum: 300, default: 60 }),
    },
    marks: ['judged'],
  }),
  row({
    name: 'svc.workflow.list',
    description: 'Lists workflows.',
    optional: { limit: whole('Entries at most.', { minimum: 1, maximum: 200, default: 50 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.search',
    description: 'Finds workflows whose name and description hold each of the words.',
    required: { query: words('Words to search for.') },
    optional: { limit: whole('Entries at most.', { minimum: 1, maximum: 200, default: 50 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.export',
    description: 'Answers the manifest of a workflow.',
    required: { name: text('Name.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.create',
    description: 'Registers a workflow; a version that exists with other content is a CONFLICT.',
    required: { manifest_yaml: text('Manifest as YAML.') },
    optional: {
      scope: choice(['user', 'tenant', 'global'], 'Where to register it; default: tenant; global needs an operator.'),
    },
  }),
  row({
    name: 'svc.workflow.update',
    description: 'Registers a new version of a workflow.',
    required: { manifest_yaml: text('Manifest as YAML.') },
    optional: {
      scope: choice(['user', 'tenant', 'global'], 'Where to register it; default: tenant; global needs an operator.'),
      force: flag('Whether a version that exists with other content is replaced.', false),
    },
  }),
  row({
    name: 'svc.workflow.executions.list',
    description: 'Lists executions of workflows.',
    optional: { limit: whole('Entries at most.', { minimum: 1, maximum: 200, default: 50 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.executions.get',
    description: 'Answers one execution of a workflow.',
    required: { execution_id: text('Uid or name of the execution.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.logs',
    description: 'Answers what the commands of an execution wrote, 512 KiB at most.',
    required: { execution_id: text('Uid or name of the execution.') },
    optional: { state: text('State whose output alone is answered.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.status',
    description: 'Answers the status of an execution of a workflow.',
    required: { execution_id: text('Uid or name of the execution.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.wait',
    description: 'Waits for the end of an execution of a workflow; answers its last_output.',
    required: { execution_id: text('Uid or name of the execution.') },
    optional: { timeout_secs: whole('Seconds to wait at most.', { minimum: 1, maximum: 300, default: 60 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.cancel',
    description: 'Cancels an execution of a workflow.',
    required: { execution_id: text('Uid or name of the execution.') },
    optional: { reason: text('Why.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.workflow.signal',
    description: 'Answers a Human state that waits.',
    required: { execution_id: text('Uid or name of the execution.'), response: text('The answer.') },
    optional: { feedback: text('Text of {{human.feedback}}.'), state: text('Answer only if this state waits.') },
  }),
  row({
    name: 'svc.workflow.remove',
    description: 'Deletes an execution of a workflow that has ended, with its outputs.',
    required: { execution_id: text('Uid or name of the execution.') },
  }),
  row({
    name: 'svc.workflow.validate',
    description: 'Checks a workflow manifest without registering it; answers valid and problems.',
    optional: { manifest_yaml: text('Manifest as YAML.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.execution.file',
    description:
      'Answers a file of a volume of a workflow execution: text inline, anything else by a URL of its bytes.',
    required: { execution_id: text('Uid or name of the execution.'), path: pathText('/workspace/… or /VOLUME/….') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.execute.wait',
    description: 'Waits for the end of a pipeline; the same as svc.workflow.wait.',
    required: { execution_id: text('Uid or name of the execution.') },
    optional: { timeout_secs: whole('Seconds to wait at most.', { minimum: 1, maximum: 300, default: 60 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.execute.status',
    description: 'Answers the status of a pipeline.',
    required: { pipeline_execution_id: text('Id of the pipeline execution.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.execute',
    description: 'The same for a prompt; waits for the end and answers last_output.',
    required: { prompt: text('The wish.') },
    optional: {
      input: anything('Input of the pipeline; default: the wish as prompt.'),
      timeout_secs: whole('Seconds to wait at most.', { minimum: 1, maximum: 300, default: 60 }),
    },
    marks: ['judged'],
  }),
];
