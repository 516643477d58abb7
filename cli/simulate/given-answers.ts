import type { Json } from '../../crds/schema/parts.ts';
import type { State } from '../../crds/schema/state.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import { isEnd } from '../../lib/execution/finished.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { CliError } from '../exit-codes.ts';
import { parseValue } from '../parse-pairs.ts';
import { type SimulatedAnswer, type AnswerTo, questionKey } from './answer.ts';

type Kind = 'command' | 'person' | 'child' | 'agent' | 'judge';
type Fields = Readonly<Record<string, Json>>;

const fieldsOf: Readonly<Record<Kind, Readonly<Record<string, (value: Json) => boolean>>>> = {
  command: {
    exit_code: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 255,
    stdout: isText,
    stderr: isText,
  },
  person: { response: isText },
  child: { status: isEnd, result: () => true },
  agent: { status: isEnd, output: isText, score: isFraction, confidence: isFraction },
  judge: { status: isEnd, output: isText, score: isFraction, confidence: isFraction, reasoning: isText },
};

function isText(value: Json): boolean {
  return typeof value === 'string';
}

function isFraction(value: Json): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

const kindOf: Readonly<Record<string, Kind>> = {
  System: 'command',
  ContainerRun: 'command',
  Human: 'person',
  Subworkflow: 'child',
  Agent: 'agent',
};

/** The keys that answers may be given under, with the kind of answer that each takes. */
function answerable({ states }: WorkflowSpec): ReadonlyMap<string, Kind> {
  const keys = new Map<string, Kind>();
  for (const [name, state] of Object.entries(states)) {
    const kind = kindOf[state.kind];
    if (kind !== undefined) keys.set(name, kind);
    for (const [part, partKind] of partsOf(state)) keys.set(`${name}/${part}`, partKind);
  }
  return keys;
}

/** Steps and judges of a state that has several. */
function partsOf(state: State): (readonly [string | number, Kind])[] {
  if (state.kind === 'ParallelContainerRun') return state.steps.map(({ name }) => [name, 'command'] as const);
  return state.kind === 'ParallelAgents' ? state.agents.map((_, index) => [index, 'judge'] as const) : [];
}

/**
 * The answers of a file and of flags. A file maps STATE, STATE/STEP or STATE/N of judge N to one answer or a list. A
 * list has one for each visit or attempt; the last one repeats. A text is the response of a person. Flags are
 * `STATE=RESPONSE` and `STATE.FIELD=VALUE`, and go before the file. Throws a usage error that names what is wrong.
 */
export function givenAnswers(spec: WorkflowSpec, file: Json | undefined, flags: readonly string[]): AnswerTo {
  const keys = answerable(spec);
  const given = new Map<string, SimulatedAnswer[]>();
  for (const [key, value] of Object.entries(fileEntries(file))) {
    given.set(
      key,
      (Array.isArray(value) ? value : [value]).map((one) => checked(keys, key, fieldsIn(keys, key, one))),
    );
  }
  for (const [key, answers] of flagAnswers(keys, flags)) given.set(key, answers);
  const asked = new Map<string, number>();
  return (question) => {
    const key = questionKey(question);
    const count = asked.get(key) ?? 0;
    asked.set(key, count + 1);
    const answers = given.get(key);
    return answers?.[Math.min(count, answers.length - 1)];
  };
}

function fileEntries(file: Json | undefined): Fields {
  if (file === undefined) return {};
  if (isJsonObject(file)) return file as Fields;
  throw new CliError('usage', 'the file of answers holds no map', 'Write it as STATE: {exit_code: 1}.');
}

function fieldsIn(keys: ReadonlyMap<string, Kind>, key: string, value: Json): Fields {
  if (isJsonObject(value)) return value as Fields;
  if (keys.get(key) === 'person' && typeof value === 'string') return { response: value };
  throw new CliError('usage', `the answer of '${key}' is no map`, `Write it as ${key}: {${exampleOf(keys.get(key))}}.`);
}

/** Repeated flags of one field are the answers of one visit after the other. */
function flagAnswers(keys: ReadonlyMap<string, Kind>, flags: readonly string[]): Map<string, SimulatedAnswer[]> {
  const values = new Map<string, Map<string, Json[]>>();
  for (const flag of flags) {
    const { key, field, value } = parseFlag(keys, flag);
    const fields = values.get(key) ?? new Map<string, Json[]>();
    fields.set(field, [...(fields.get(field) ?? []), value]);
    values.set(key, fields);
  }
  const answers = new Map<string, SimulatedAnswer[]>();
  for (const [key, fields] of values) {
    const visits = Math.max(...[...fields.values()].map(({ length }) => length));
    const at = (list: readonly Json[], visit: number): Json => list[Math.min(visit, list.length - 1)] ?? null;
    answers.set(
      key,
      Array.from({ length: visits }, (_, visit) =>
        checked(keys, key, Object.fromEntries([...fields].map(([field, list]) => [field, at(list, visit)]))),
      ),
    );
  }
  return answers;
}

const flagForm = /^([^.=]+)(?:\.([a-z_]+))?=(.*)$/s;

const texts = new Set(['response', 'stdout', 'stderr', 'output', 'reasoning']);

function parseFlag(keys: ReadonlyMap<string, Kind>, flag: string) {
  const [, key, field = 'response', text = ''] = flagForm.exec(flag) ?? [];
  if (key === undefined) {
    const hint = 'Write it as STATE=RESPONSE for a person, or as STATE.exit_code=1 for a command.';
    throw new CliError('usage', `--answer '${flag}' is not STATE=RESPONSE or STATE.FIELD=VALUE`, hint);
  }
  assertField(keys.get(key), key, field);
  return { key, field, value: texts.has(field) ? text : parseValue(text) };
}

function assertField(kind: Kind | undefined, key: string, field: string): void {
  if (kind === undefined || kind === 'person' || field !== 'response') return;
  throw new CliError('usage', `--answer ${key}=… names no field`, `Write it as ${key}.${exampleOf(kind)}.`);
}

function checked(keys: ReadonlyMap<string, Kind>, key: string, fields: Fields): SimulatedAnswer {
  const kind = keys.get(key);
  if (kind === undefined) {
    throw new CliError(
      'usage',
      `no state or step '${key}' takes an answer`,
      `Give one of ${[...keys.keys()].join(', ')}.`,
    );
  }
  for (const [field, value] of Object.entries(fields)) {
    const takes = fieldsOf[kind];
    const isRight = Object.hasOwn(takes, field) && takes[field]?.(value);
    if (isRight) continue;
    const hint = `'${key}' takes ${Object.keys(takes).join(', ')}, as ${exampleOf(kind)}.`;
    throw new CliError('usage', `the answer ${key}.${field}=${JSON.stringify(value)} cannot be`, hint);
  }
  return fields as SimulatedAnswer;
}

const examples: Readonly<Record<Kind, string>> = {
  command: 'exit_code=1',
  person: 'response=approved',
  child: 'status=failed',
  agent: 'score=0.8',
  judge: 'score=0.8',
};

const exampleOf = (kind: Kind = 'command'): string => examples[kind];
