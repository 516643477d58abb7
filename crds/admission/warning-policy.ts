import { limits } from '../limits.ts';
import { celList } from '../rules/cel-text.ts';
import { builtInPrefixes, builtInTools } from '../tool-name.ts';
import type { AdmissionPolicy, AdmissionRule } from './policy.ts';

/** `found` is a CEL expression that gives the names of the states that deserve a look. */
interface StateWarning {
  readonly variable: string;
  readonly found: string;
  readonly text: string;
}

const states = 'object.spec.states';
const state = `${states}[s]`;
/** A field without a type in the definition can be read only as a dynamic value. */
const command = `dyn(${state}).command`;
const statesWhere = (condition: string): string => `${states}.filter(s, ${condition})`;
const positions = `[${Array.from({ length: limits.transitionsPerState - 1 }, (_, index) => index).join(', ')}]`;
const isAlways = (rule: string): string => `(!has(${rule}.condition) || ${rule}.condition == 'always')`;

const hasNoProcess = `has(${command}) && type(${command}) == string && string(${command}).trim() in ['finalize', 'update_context']`;
const cannotFail = [
  `${state}.kind == 'System' && ${hasNoProcess}`,
  `${state}.kind == 'ParallelContainerRun' && has(${state}.completion) && ${state}.completion == 'best_effort'`,
  `${state}.kind == 'Human' && (!has(${state}.timeout) || has(${state}.default_response))`,
];

/** A gate without a rule that takes the response of a command. */
const gateWithout = (response: string, condition: string): string =>
  statesWhere(
    `${state}.kind == 'Human' && size(${state}.transitions) > 0 && !${state}.transitions.exists(t, ${isAlways('t')} || t.condition in ['custom', '${condition}'] || t.condition == 'input_equals' && has(t.value) && t.value == '${response}')`,
  );

const attempt = `duration(has(${state}.resources) && has(${state}.resources.timeout) ? ${state}.resources.timeout : '${limits.containerTimeoutDefault}')`;
const whole = `duration(has(${state}.timeout) ? ${state}.timeout : '${limits.stateTimeoutDefault}')`;

const warnings: readonly StateWarning[] = [
  {
    variable: 'ends',
    found: statesWhere(`size(${state}.transitions) == 0 && !(${cannotFail.join(' || ')})`),
    text: ': is terminal and can fail; the execution then ends completed with the reason LastStateFailed',
  },
  {
    variable: 'approvals',
    found: gateWithout('approved', 'input_equals_yes'),
    text: '.transitions: no rule matches approved, so approve will be refused here',
  },
  {
    variable: 'rejections',
    found: gateWithout('rejected', 'input_equals_no'),
    text: '.transitions: no rule matches rejected, so reject will be refused here',
  },
  {
    variable: 'retries',
    found: statesWhere(
      `${state}.kind == 'ContainerRun' && has(${state}.retry) && has(${state}.retry.max_attempts) && ${state}.retry.max_attempts > 1 && ${attempt} >= ${whole}`,
    ),
    text: '.retry: an attempt may take as long as the state, so one that hangs leaves no time for another; set resources.timeout below timeout',
  },
  {
    variable: 'shadows',
    found: statesWhere(
      `${positions}.exists(i, i < size(${state}.transitions) - 1 && ${isAlways(`${state}.transitions[i]`)})`,
    ),
    text: '.transitions: a rule that always matches is not the last; those behind it are never tested',
  },
];

/** Warns of the first of what the variable lists, in words around it. */
const warnOfFirst = (variable: string, before: string, behind: string): AdmissionRule => ({
  expression: `size(variables.${variable}) == 0`,
  message: `'${before}' + variables.${variable}[0] + '${behind}'`,
});

/**
 * Legal traps, shown by the client that writes a Workflow (requirements AMB-193). It refuses nothing, and says nothing
 * where it cannot be evaluated; the status of the Workflow has every warning.
 */
export const warningPolicy: AdmissionPolicy = {
  name: 'workflow-warnings',
  resources: ['workflows'],
  operations: ['CREATE', 'UPDATE'],
  action: 'Warn',
  variables: Object.fromEntries(warnings.map(({ variable, found }) => [variable, found])),
  rules: warnings.map(({ variable, text }) => warnOfFirst(variable, 'spec.states.', text)),
};

const isBuiltIn = builtInPrefixes.map((prefix) => `p.startsWith('${prefix}')`).join(' || ');

/** CEL: some name begins and ends as the pattern does. One that differs only between two stars is not found out. */
const fitsOne =
  "variables.names.exists(n, n.startsWith(p.split('*')[0]) && n.endsWith(p.split('*')[size(p.split('*')) - 1]))";

const idle = (field: string): string =>
  `has(object.spec.${field}) ? object.spec.${field}.filter(p, (${isBuiltIn}) && !(p.contains('*') ? ${fitsOne} : p in variables.names)) : []`;

const warning = (field: string): AdmissionRule =>
  warnOfFirst(field, `spec.${field}: `, ' fits no tool; svc.tools.list names those there are');

/**
 * Patterns of a SecurityContext that begin as the names of built-in tools do and fit none, shown by the client that writes
 * them. No registered tool may have such a name, so the pattern permits or denies nothing. A later version may have the
 * tool, so nothing is refused.
 */
export const toolPatternPolicy: AdmissionPolicy = {
  name: 'tool-pattern-warnings',
  resources: ['securitycontexts'],
  operations: ['CREATE', 'UPDATE'],
  action: 'Warn',
  variables: { names: celList(builtInTools), tools: idle('tools'), deny_list: idle('deny_list') },
  rules: [warning('tools'), warning('deny_list')],
};
