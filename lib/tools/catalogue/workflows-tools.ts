import { anything, row, text, type ToolRow, whole } from './row.ts';

/** Tools about workflows and their executions (spec 3 §10.1, §10.2). */
export const workflowsTools: readonly ToolRow[] = [
  row({
    name: 'svc.workflow.delete',
    description: 'Deletes a workflow.',
    required: { name: text('Name.') },
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
    description: 'Writes a workflow manifest from a description.',
    required: { input: text('Description in natural language.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.workflow.promote',
    description: 'Moves a workflow to a wider scope.',
    optional: { name: text('Name of the workflow.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.workflow.demote',
    description: 'Moves a workflow to a narrower scope.',
    optional: { name: text('Name of the workflow.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.execute.intent',
    description: 'Finds or writes a pipeline for an intent, and runs it.',
    required: { intent: text('The intent.') },
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
    description: 'Finds workflows by words of their name and description.',
    required: { query: text('Words to search for.') },
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
    description: 'Registers a workflow.',
    required: { manifest_yaml: text('Manifest as YAML.') },
  }),
  row({
    name: 'svc.workflow.update',
    description: 'Registers a new version of a workflow.',
    required: { manifest_yaml: text('Manifest as YAML.') },
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
    description: 'Answers the output of the states of an execution.',
    required: { execution_id: text('Uid or name of the execution.') },
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
  }),
  row({
    name: 'svc.workflow.remove',
    description: 'Deletes an execution of a workflow that has ended.',
    required: { execution_id: text('Uid or name of the execution.') },
  }),
  row({
    name: 'svc.workflow.validate',
    description: 'Checks a workflow manifest without registering it.',
    optional: { manifest_yaml: text('Manifest as YAML.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.execution.file',
    description: 'Answers a file of an execution: text inline, anything else by URL.',
    required: { execution_id: text('Uid or name of the execution.'), path: text('Path.') },
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
    description: 'Finds or writes a pipeline for a prompt, and runs it.',
    required: { prompt: text('The wish.') },
    marks: ['judged'],
  }),
];
