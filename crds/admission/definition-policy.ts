import { limits } from '../limits.ts';
import { reservedStateNames, stateNamePattern } from '../reserved-names.ts';
import { celList } from '../rules/cel-text.ts';
import type { AdmissionPolicy, AdmissionRule } from './policy.ts';

/** `found` is a CEL expression that gives the names of the states that break the rule. */
interface StateRule {
  readonly variable: string;
  readonly found: string;
  /** CEL: what follows `spec.states.<name>` in the message; `s` is the name of the first state found. */
  readonly text: (s: string) => string;
}

const states = 'object.spec.states';
const stateOf = (name: string): string => `${states}[${name}]`;
/** A field without a type in the definition can be read only as a dynamic value. */
const command = (name: string): string => `dyn(${stateOf(name)}).command`;
const statesWhere = (condition: string): string => `${states}.filter(s, ${condition})`;
const indexes = (length: number): string => `[${Array.from({ length }, (_, index) => index).join(', ')}]`;
const firstIndex = (list: string, length: number, item: (text: string) => string): string =>
  `string(${indexes(length)}.filter(i, i < size(${list}) && ${item(`${list}[i]`)})[0])`;

const stray = (transition: string): string => `!(${transition}.target in ${states})`;
const strayMount = (mount: string): string => `has(${mount}.name) && !(${mount}.name in variables.volumes)`;
const transitionsOf = (name: string): string => `${stateOf(name)}.transitions`;
const volumesOf = (name: string): string => `${stateOf(name)}.volumes`;
const stepsOf = (name: string): string => `${stateOf(name)}.steps`;
const strayInStep = (step: string): string => `has(${step}.volumes) && ${step}.volumes.exists(v, ${strayMount('v')})`;

const unknownVolume = "': the volume is neither the declared workspace nor one of storage.shared_volumes'";

const nameRules: readonly StateRule[] = [
  {
    variable: 'badNames',
    found: statesWhere(`!s.matches('${stateNamePattern}')`),
    text: () => `': the name of a state must match ${stateNamePattern}'`,
  },
  {
    variable: 'reservedNames',
    found: statesWhere(`s in ${celList(reservedStateNames)}`),
    text: () => "': the name is reserved, because templates read it as something else'",
  },
];

const referenceRules: readonly StateRule[] = [
  {
    variable: 'strayTargets',
    found: statesWhere(`${transitionsOf('s')}.exists(t, ${stray('t')})`),
    text: (s) =>
      `'.transitions[' + ${firstIndex(transitionsOf(s), limits.transitionsPerState, stray)} + "].target: '" + ${transitionsOf(s)}.filter(t, ${stray('t')})[0].target + "' is not a key of states"`,
  },
  {
    variable: 'strayVolumes',
    found: statesWhere(`has(${volumesOf('s')}) && ${volumesOf('s')}.exists(v, ${strayMount('v')})`),
    text: (s) => `'.volumes[' + ${firstIndex(volumesOf(s), limits.volumes, strayMount)} + '].name' + ${unknownVolume}`,
  },
  {
    variable: 'strayStepVolumes',
    found: statesWhere(`has(${stepsOf('s')}) && ${stepsOf('s')}.exists(p, ${strayInStep('p')})`),
    text: (s) =>
      `'.steps[' + ${firstIndex(stepsOf(s), limits.steps, strayInStep)} + '].volumes[].name' + ${unknownVolume}`,
  },
];

const hasCommand = (s: string): string => `has(${command(s)})`;
const isText = (value: string): string =>
  `type(${value}) == string && size(string(${value})) <= ${limits.templateLength}`;

/** `command` is a string for one kind and a list for another, so its definition has no type (WF-SYS-01, WF-CR-05). */
const commandRules: readonly StateRule[] = [
  {
    variable: 'missingCommands',
    found: statesWhere(`${stateOf('s')}.kind in ['System', 'ContainerRun'] && !${hasCommand('s')}`),
    text: (s) => `'.command: is required for kind ' + ${stateOf(s)}.kind`,
  },
  {
    variable: 'strangeCommands',
    found: statesWhere(`!(${stateOf('s')}.kind in ['System', 'ContainerRun']) && ${hasCommand('s')}`),
    text: (s) => `'.command: does not apply to kind ' + ${stateOf(s)}.kind + '; it is for System, ContainerRun'`,
  },
  {
    variable: 'badSystemCommands',
    found: statesWhere(
      `${stateOf('s')}.kind == 'System' && ${hasCommand('s')} && !(${isText(command('s'))} && size(string(${command('s')})) > 0)`,
    ),
    text: () => `'.command: must be a string of 1 to ${limits.templateLength} characters for kind System'`,
  },
  {
    variable: 'badContainerCommands',
    found: statesWhere(
      `${stateOf('s')}.kind == 'ContainerRun' && ${hasCommand('s')} && !(type(${command('s')}) == list && size(${command('s')}) > 0 && size(${command('s')}) <= ${limits.commandElements} && ${command('s')}.all(c, ${isText('c')}))`,
    ),
    text: () => `'.command: must be a list of 1 to ${limits.commandElements} strings for kind ContainerRun'`,
  },
];

const stateRules = [...nameRules, ...referenceRules, ...commandRules];

const toRule = ({ variable, text }: StateRule): AdmissionRule => ({
  expression: `size(variables.${variable}) == 0`,
  message: `'spec.states.' + variables.${variable}[0] + ${text(`variables.${variable}[0]`)}`,
});

/** Rules of a Workflow that its schema cannot express, with messages that name the path of the first fault. */
export const definitionPolicy: AdmissionPolicy = {
  name: 'workflow-definitions',
  resources: ['workflows'],
  operations: ['CREATE', 'UPDATE'],
  variables: {
    volumes:
      "(has(object.spec.storage) && has(object.spec.storage.workspace) ? ['workspace'] : []) + (has(object.spec.storage) && has(object.spec.storage.shared_volumes) ? object.spec.storage.shared_volumes.map(v, v.name) : [])",
    ...Object.fromEntries(stateRules.map(({ variable, found }) => [variable, found])),
  },
  rules: stateRules.map(toRule),
};
