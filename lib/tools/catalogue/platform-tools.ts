import { flag, row, text, type ToolRow, whole, words } from './row.ts';

/** Tools about agents, their executions and the installation (spec 3 §10.1, §10.2). */
export const platformTools: readonly ToolRow[] = [
  row({
    name: 'svc.agent.generate',
    description:
      'Has the agent agent-author write a manifest, in the default security context; answers it with its problems.',
    required: { input: text('Description in natural language.') },
    optional: { timeout_secs: whole('Seconds to wait at most.', { minimum: 1, maximum: 300, default: 60 }) },
    marks: ['judged'],
  }),
  row({
    name: 'svc.task.execute',
    description: 'Starts an execution of an agent.',
    required: { agent_id: text('Uid or name of the agent.') },
    optional: {
      input: text('Input of the task; default: empty.'),
      version: text('Version; default: the newest.'),
      intent: text('Purpose in natural language.'),
    },
    marks: ['judged'],
  }),
  row({
    name: 'svc.task.cancel',
    description: 'Cancels an execution of an agent.',
    required: { execution_id: text('Uid or name of the execution.') },
    optional: { reason: text('Why.') },
    marks: ['judged', 'repeatable'],
  }),
  row({
    name: 'svc.task.remove',
    description: 'Deletes an execution of an agent that has ended.',
    required: { execution_id: text('Uid or name of the execution.') },
    marks: ['judged'],
  }),
  row({
    name: 'svc.agent.list',
    description: 'Lists agents.',
    optional: { limit: whole('Entries at most.', { minimum: 1, maximum: 200, default: 50 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.agent.search',
    description: 'Finds agents whose name and description hold each of the words.',
    required: { query: words('Words to search for.') },
    optional: { limit: whole('Entries at most.', { minimum: 1, maximum: 200, default: 50 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.agent.export',
    description: 'Answers the manifest of an agent.',
    required: { name: text('Name.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.agent.create',
    description: 'Registers an agent; a version that exists with other content is a CONFLICT.',
    required: { manifest_yaml: text('Manifest as YAML.') },
  }),
  row({
    name: 'svc.agent.update',
    description: 'Registers a new version of an agent.',
    required: { manifest_yaml: text('Manifest as YAML.') },
    optional: { force: flag('Whether a version that exists with other content is replaced.', false) },
  }),
  row({
    name: 'svc.agent.delete',
    description: 'Deletes an agent.',
    required: { agent_id: text('Uid or name of the agent.') },
  }),
  row({
    name: 'svc.agent.logs',
    description: 'Answers the conversations of the newest executions of an agent, of each the first page.',
    required: { agent_id: text('Uid or name of the agent.') },
    optional: { limit: whole('Executions at most.', { minimum: 1, maximum: 10, default: 3 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.agent.wait',
    description: 'Waits for the end of an execution of an agent; the same as svc.task.wait.',
    required: { execution_id: text('Uid or name of the execution.') },
    optional: { timeout_secs: whole('Seconds to wait at most.', { minimum: 1, maximum: 300, default: 60 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.schema.get',
    description: 'Answers the JSON Schema of a kind.',
    required: { key: text('Name of the kind, such as Workflow.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.schema.validate',
    description: 'Checks a manifest against its kind; answers valid and problems.',
    required: { kind: text('Name of the kind, such as Workflow.'), manifest_yaml: text('Manifest as YAML.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.task.status',
    description: 'Answers the status of an execution of an agent.',
    required: { execution_id: text('Uid or name of the execution.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.task.wait',
    description: 'Waits for the end of an execution of an agent.',
    required: { execution_id: text('Uid or name of the execution.') },
    optional: { timeout_secs: whole('Seconds to wait at most.', { minimum: 1, maximum: 300, default: 60 }) },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.task.list',
    description: 'Lists executions of agents.',
    optional: {
      limit: whole('Entries at most.', { minimum: 1, maximum: 200, default: 50 }),
      agent_id: text('Agent whose executions are listed.'),
    },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.task.logs',
    description: 'Answers the conversation of an execution of an agent, its first page.',
    required: { execution_id: text('Uid or name of the execution.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.tools.list',
    description: 'Lists the tools that the caller may call.',
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.tools.search',
    description: 'Finds tools by words of their name and description.',
    optional: { query: words('Words to search for.') },
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.system.info',
    description: 'Answers name and version of the installation, its kinds, and how many tools the caller may call.',
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.system.config',
    description: 'Answers model aliases, dispatchers, runtimes and isolations; no key, address or image.',
    marks: ['repeatable'],
  }),
  row({
    name: 'svc.runtime.list',
    description: 'Lists the languages and versions that agents run in.',
    optional: { language: text('Language to list alone.') },
    marks: ['repeatable'],
  }),
];
