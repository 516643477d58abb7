import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '../../../lib/tools/catalogue/catalogue.ts';
import type { Called } from '../gateway/stage.ts';
import { isNativeCluster } from '../harness/cluster.ts';
import { agentCases } from './agent-cases.ts';
import { type ContainerCase, containerCases } from './container-cases.ts';
import { edgeCases, webCases } from './edge-cases.ts';
import { gitCases, resourceCases } from './resource-cases.ts';
import { type Arguments, argumentsOf, type ToolCase } from './tool-case.ts';
import { openToolWorld, type ToolWorld } from './tool-world.ts';
import { operatorsOnly, workflowCases } from './workflow-cases.ts';

const apiCases = [
  ...agentCases,
  ...workflowCases,
  ...operatorsOnly,
  ...resourceCases,
  ...gitCases,
  ...edgeCases,
  ...webCases,
];
const rows = (cases: readonly ToolCase[]) => cases.map((one) => [one.tool, one] as const);

/** Something for each argument whose value is not known yet; it is not looked at where another one is missing. */
const samplesOf = (tool: string): Arguments =>
  Object.fromEntries((catalogue.get(tool)?.input_schema.required ?? []).map((field) => [field, 'x']));

/** Every call without one of the arguments that the tool requires, absent or null (spec 3 §10.2). */
function* withoutOne(tool: string, args: Arguments): Generator<readonly [field: string, args: Arguments]> {
  for (const field of catalogue.get(tool)?.input_schema.required ?? []) {
    const { [field]: _, ...rest } = args;
    yield [field, rest];
    yield [field, { ...args, [field]: null }];
  }
}

const missing = (tool: string, field: string): string =>
  `Invalid tool arguments: required field '${field}' is missing or null for tool '${tool}'`;

/** The value to compare with `want`: the text, or the value of its JSON. */
const contentFor = (want: string | object, content: string): unknown =>
  typeof want === 'string' || want instanceof RegExp ? content : JSON.parse(content);

const wanted = (want: string | object): unknown => {
  if (want instanceof RegExp) return expect.stringMatching(want);
  return typeof want === 'string' ? want : expect.objectContaining(Object.fromEntries(fieldsOf(want)));
};

/** Objects and lists within it may have more than is wanted. */
function fieldsOf(want: object): [string, unknown][] {
  return Object.entries(want).map(([name, value]) => [name, Array.isArray(value) ? value.map(partly) : partly(value)]);
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const partly = (value: unknown): unknown => (isPlain(value) ? expect.objectContaining(value) : value);

const contentOf = ({ result }: Called): string => result?.content[0]?.text ?? '';

/** The words of a refusal, by the tool (200) or by the policy before it (403); undefined for any other answer. */
function refusalOf({ status, result, error }: Called): string | undefined {
  if (status === 200) return result?.isError === true ? result.content[0]?.text : undefined;
  return status === 403 && error?.code === -32_000 ? error.message : undefined;
}

/** A machine that does much else may answer 503, as an installation may whose bus is away; nothing has run then. */
async function patiently(call: () => Promise<Called>): Promise<Called> {
  for (let attempt = 1; attempt < 5; attempt += 1) {
    const called = await call();
    if (called.status !== 503) return called;
  }
  return call();
}

it('issue 12 names each tool of the registry in one case', () => {
  const named = [...apiCases, ...containerCases].map(({ tool }) => tool);
  expect(named.toSorted()).toEqual([...catalogue.keys()].toSorted());
});

/** Needs the installation of dev/demo/install, with the scripted model as its only provider. */
describe.runIf(isNativeCluster())('on the running system', () => {
  let world: ToolWorld;
  const noted: Record<string, string> = {};

  beforeAll(async () => {
    world = await openToolWorld();
    Object.assign(noted, world.noted);
  });
  afterAll(() => world?.close());

  async function succeed({ tool, first, args }: ToolCase): Promise<Called> {
    if (first !== undefined) await world.call(first[0], argumentsOf(first[1], noted));
    return world.call(tool, argumentsOf(args, noted));
  }

  describe.each(rows(apiCases))('%s', (tool, one) => {
    const { args, refused = [{}, /^/] } = one;

    it('TOOL-RULE-06 needs its arguments', async () => {
      for (const [field, less] of withoutOne(tool, { ...samplesOf(tool), ...argumentsOf(args, noted) })) {
        const { status, error } = await patiently(() => world.call(tool, less));
        expect([status, error]).toEqual([422, { code: -32_602, message: missing(tool, field), data: null }]);
      }
    });

    it('AMB-131 is refused where the context does not have it, whatever its arguments', async () => {
      const { status, error } = await patiently(() => world.callWithoutRight(tool, {}));
      const message = `ToolNotAllowed: ${tool} is not in tools of the SecurityContext; add it there`;
      expect([status, error]).toEqual([403, { code: -32_000, message, data: null }]);
    });

    it('succeeds', async () => {
      const { isNeverGranted = false, want } = one;
      const called = await succeed(one);
      expect(called).toMatchObject({ status: 200, result: { isError: isNeverGranted } });
      const content = contentOf(called);
      expect(contentFor(want, content)).toEqual(wanted(want));
      for (const [name, field] of Object.entries(one.notes ?? {}))
        noted[name] = String((JSON.parse(content) as Arguments)[field]);
    });

    it.runIf(one.refused !== undefined)('refuses what it cannot do', async () => {
      const [wrong, text] = refused;
      const called = await patiently(() => world.call(tool, argumentsOf(wrong, noted)));
      expect(refusalOf(called)).toEqual(expect.stringMatching(text));
    });
  });

  it('TOOL-RULE-06 each tool of a container succeeds, is refused, and needs its arguments', async () => {
    const calls = containerCases.flatMap(callsOf);
    const ends = await world.callInContainer(calls.map(({ tool, args }) => ({ tool, args })));
    expect(ends).toHaveLength(calls.length);
    for (const [index, { tool, args, isError, want }] of calls.entries()) {
      const { content = '', ...end } = ends[index] ?? {};
      expect({ args, ...end }).toMatchObject({ args, tool, is_error: isError });
      expect(contentFor(want, content)).toEqual(wanted(want));
    }
  });
});

interface ContainerCall {
  readonly tool: string;
  readonly args: Arguments;
  readonly isError: boolean;
  readonly want: object | string;
}

function callsOf({ tool, args, want, refused }: ContainerCase): ContainerCall[] {
  const given = argumentsOf(args, {});
  const [wrong, text] = refused;
  return [
    ...[...withoutOne(tool, given)].map(([field, less]) => ({
      tool,
      args: less,
      isError: true,
      want: `InvalidArguments: ${missing(tool, field)}`,
    })),
    { tool, args: given, isError: false, want },
    { tool, args: argumentsOf(wrong, {}), isError: true, want: text },
  ];
}
