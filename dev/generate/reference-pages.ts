import {
  agentExecutionReasons,
  apiSpecReasons,
  credentialsReasons,
  cliToolReasons,
  eventReasons,
  fleetRunReasons,
  gitBindingReasons,
  stimulusReasons,
  executionReasons,
  stimulusRouterReasons,
  toolWorkflowReasons,
  volumeReasons,
  workflowReasons,
} from '../../crds/conditions.ts';
import { type KindDefinition, kinds } from '../../crds/kinds.ts';
import { apiVersion } from '../../crds/labels.ts';
import { type SourceSchema, sourceOf } from '../../crds/source-schema.ts';
import { fieldTable } from './field-table.ts';

const note = '<!-- Generated from crds/ by "npm run generate". Change the sources there, not this file. -->';

/** The pages of docs/reference: the fields of each kind, and every reason. */
export function referencePages(): [path: string, text: string][] {
  return [
    ...kinds.map((kind): [string, string] => [`docs/reference/${kind.singular}.md`, kindPage(kind)]),
    ['docs/reference/reasons.md', reasonsPage()],
  ];
}

function kindPage(kind: KindDefinition): string {
  const spec = sourceOf(kind.spec);
  const { states } = spec.properties ?? {};
  const union = states?.additionalProperties || undefined;
  return page(
    `# ${kind.kind}`,
    kind.description,
    `\`apiVersion: ${apiVersion}\`, \`kind: ${kind.kind}\`. With kubectl: \`kubectl get ${kind.plural}\`, short \`${kind.shortNames.join('`, `')}\`.`,
    '## spec',
    fieldTable(spec, 'spec'),
    ...rules(spec),
    ...(union?.anyOf ? [...union.anyOf.flatMap(statePart), ...rules(union)] : []),
    '## status',
    kind.kind === 'ToolCall' ? 'Written by the API alone.' : 'Written by the controllers alone.',
    fieldTable(sourceOf(kind.status), 'status'),
  );
}

function statePart(variant: SourceSchema): string[] {
  const kind = variant.properties?.['kind']?.enum?.[0] ?? '';
  return [
    `## State of kind ${kind}`,
    variant.description ?? '',
    fieldTable(variant, 'spec.states.<name>'),
    ...rules(variant),
  ];
}

/** The sentences of all rules below a schema; those of a union's variants are with the variants. */
function rules(schema: SourceSchema): string[] {
  const sentences = [...new Set(messages(schema))];
  if (sentences.length === 0) return [];
  return ['Messages of refusals:', sentences.map((sentence) => `- ${sentence}`).join('\n')];
}

function messages(schema: SourceSchema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message, fieldPath }) =>
    fieldPath === undefined ? message : `\`${fieldPath.slice(1)}\`: ${message}`,
  );
  const below = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties || undefined];
  return [...own, ...below.flatMap((child) => (child === undefined || child.anyOf ? [] : messages(child)))];
}

function reasonsPage(): string {
  return page(
    '# Reasons',
    'Reasons in the conditions, failed visits and Events of Windlass, and their meaning.',
    '## WorkflowExecution: condition `Succeeded`, failed visits, Events',
    reasonTable(executionReasons),
    '## AgentExecution: condition `Succeeded` and `status.reason`, beside the first table',
    reasonTable(agentExecutionReasons),
    '## FleetRun: condition `Succeeded` and `status.reason`',
    reasonTable(fleetRunReasons),
    '## Workflow: condition `Ready`',
    reasonTable(workflowReasons),
    '## Volume: condition `Ready`',
    reasonTable(volumeReasons),
    '## StimulusRouter: condition `Ready`',
    reasonTable(stimulusRouterReasons),
    '## ApiSpec: condition `Ready`',
    reasonTable(apiSpecReasons),
    '## ApiSpec and ToolWorkflow: condition `CredentialsFound`',
    reasonTable(credentialsReasons),
    '## ToolWorkflow: condition `Ready`',
    reasonTable(toolWorkflowReasons),
    '## CliTool: condition `Ready`',
    reasonTable(cliToolReasons),
    '## GitBinding: condition `Ready`',
    reasonTable(gitBindingReasons),
    '## Events without a condition',
    reasonTable(eventReasons),
    '## WorkflowExecution: `status.stimulus`, beside the first table',
    reasonTable(stimulusReasons),
  );
}

const reasonTable = (reasons: Readonly<Record<string, string>>): string =>
  [
    '| Reason | Meaning |',
    '|---|---|',
    ...Object.entries(reasons).map(([name, text]) => `| \`${name}\` | ${text} |`),
  ].join('\n');

const page = (...parts: string[]): string => `${[note, ...parts].filter((part) => part !== '').join('\n\n')}\n`;
