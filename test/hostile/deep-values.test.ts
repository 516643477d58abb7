import { describe, expect, it } from 'vitest';
import { fixTargets } from '../../controllers/fleet-run/begin/fix-targets.ts';
import { presentDefinition as presentAgent } from '../../api/routes/agents/present.ts';
import { presentExecution } from '../../api/routes/executions/present.ts';
import { moveWorkflow } from '../../api/routes/workflows/move/move-workflow.ts';
import { presentDefinition } from '../../api/routes/workflows/present.ts';
import { blackboardProblem, inputProblem } from '../../controllers/execution/engine/input.ts';
import { customResourceDefinition } from '../../crds/custom-resource-definition.ts';
import { kinds } from '../../crds/kinds.ts';
import { annotations } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import { lineOfProblem, type Problem } from '../../crds/problem.ts';
import type { CliToolSpec } from '../../crds/schema/cli-tool.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import type { StructuralSchema } from '../../crds/structural-schema.ts';
import { checkAgent } from '../../lib/agent/check-agent.ts';
import { readRecord, writeRecord } from '../../lib/archive/record.ts';
import { checkCliTool } from '../../lib/cli-tool/check-cli-tool.ts';
import { checkDefinition } from '../../lib/definition/check.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import { checkArgs } from '../../lib/fleet/args.ts';
import { completePolicy } from '../../lib/fleet/policy.ts';
import { jsonText } from '../../lib/json-text.ts';
import { schemaLimits } from '../../lib/json-schema/limits.ts';
import { createKeepRevision, holdsItsContent, revisionOf } from '../../lib/registration/index.ts';
import { checkToolWorkflow } from '../../lib/tool-chain/check-tool-workflow.ts';
import { Work } from '../../lib/work/work.ts';
import { anAgent } from '../builders/agent-builder.ts';
import { anExecution } from '../builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../builders/workflow-builder.ts';
import { nested } from '../support/nested.ts';

/**
 * The attacker may make objects with kubectl. The API server takes any JSON of up to 10,000 levels in a field without a
 * schema, and no process can write, or walk by recursion, more than some thousand.
 */
const serverLevels = 9_000;
/** Few enough for the bounds of bytes. */
const overflowing = 5_500;

/** Gives the problems of an object, one line each, with the value in its place. */
type Problems = (value: unknown) => readonly string[];

const workflow = aWorkflow('w').state('end', anEnd()).build();
const agent = anAgent();
const errorsOf = (problems: readonly Problem[]): readonly string[] =>
  problems.filter(({ severity }) => severity === 'error').map(lineOfProblem);
const ofWorkflow = (spec: object): readonly string[] => errorsOf(checkDefinition({ ...workflow.spec, ...spec }));
const ofAgent = (spec: object): readonly string[] => errorsOf(checkAgent({ ...agent.spec, ...spec }));
const schema = (value: unknown): object => ({ type: 'object', default: value });
const thrown = (task: () => unknown): readonly string[] => {
  try {
    task();
    return [];
  } catch (error) {
    // Anything else would be tried again, for ever.
    if (!(error instanceof AppError)) throw error;
    return [messageOf(error)];
  }
};
const some = (problem: string | undefined): readonly string[] => (problem === undefined ? [] : [problem]);

interface Free {
  /** The field, as a problem names it. */
  readonly named: string;
  readonly problems: Problems;
  /** Levels that are taken; undefined where the form takes no deep value at all. */
  readonly most?: number;
}

const step = { name: 's', operation_id: 'o', body_template: '{}', on_error: 'Continue' };
const chain = { description: 'd', input_schema: { type: 'object' }, api_spec: 'a', steps: [step] };
const cliTool = { description: 'd', image: 'node:24', command: ['id'], input_schema: { type: 'object' } };

/** Each field of a spec that holds any JSON, with the check that looks at its depth before anything else walks it. */
const free: Readonly<Record<string, Free>> = {
  'Workflow spec.context.*': {
    named: 'spec.context.a',
    problems: (value) => ofWorkflow({ context: { a: value } }),
    most: limits.jsonDepth,
  },
  'Workflow spec.input_schema': {
    named: 'spec.input_schema',
    problems: (value) => ofWorkflow({ input_schema: schema(value) }),
    most: schemaLimits.depth,
  },
  'Workflow spec.output_schema': {
    named: 'spec.output_schema',
    problems: (value) => ofWorkflow({ output_schema: schema(value) }),
    most: schemaLimits.depth,
  },
  'Workflow spec.states.*.command': {
    named: 'spec.states.end.command',
    problems: (value) => ofWorkflow({ states: { end: { kind: 'System', command: value, transitions: [] } } }),
  },
  'Agent spec.tools[].config': {
    named: 'spec.tools',
    problems: (value) => ofAgent({ tools: [{ name: 'fs.read', config: { a: value } }] }),
    most: limits.jsonDepth - 1,
  },
  'Agent spec.output_schema': {
    named: 'spec.output_schema',
    problems: (value) => ofAgent({ output_schema: schema(value) }),
    most: schemaLimits.depth,
  },
  'CliTool spec.input_schema': {
    named: 'spec.input_schema',
    problems: (value) =>
      errorsOf(checkCliTool({ ...cliTool, input_schema: schema(value) as CliToolSpec['input_schema'] })),
    most: schemaLimits.depth,
  },
  'ToolWorkflow spec.input_schema': {
    named: 'input_schema',
    problems: (value) =>
      checkToolWorkflow({ ...chain, input_schema: schema(value) }, { isObject: true }).map(lineOfProblem),
    most: schemaLimits.depth,
  },
  'ToolWorkflow spec.steps[].on_error': {
    named: 'steps[0].on_error',
    problems: (value) =>
      checkToolWorkflow({ ...chain, steps: [{ ...step, on_error: { RetryN: value } }] }, { isObject: true }).map(
        lineOfProblem,
      ),
  },
  'FleetRun spec.args': {
    named: 'args',
    problems: (value) => thrown(() => checkArgs({ a: value })),
    most: limits.jsonDepth - 1,
  },
  'FleetRun spec.policy.mode': {
    named: 'policy.mode',
    problems: (value) => thrown(() => completePolicy({ mode: { Rolling: { batch: value as number } } })),
  },
  'FleetRun spec.policy.failure_policy': {
    named: 'policy.failure_policy',
    problems: (value) => thrown(() => completePolicy({ failure_policy: { StopAfter: value as number } })),
  },
  'WorkflowExecution spec.input': {
    named: 'input',
    problems: (value) => some(inputProblem(workflow.spec, { a: value }, new Work())),
    most: limits.jsonDepth - 1,
  },
  'WorkflowExecution spec.blackboard.*': {
    named: 'blackboard.a',
    problems: (value) => some(blackboardProblem({ a: value as never })),
    most: limits.jsonDepth,
  },
};

/** The places of a schema that take any JSON. */
function* freePlaces(part: StructuralSchema, place: string): Generator<string> {
  if (part['x-kubernetes-preserve-unknown-fields'] === true) yield place;
  for (const [name, inner] of Object.entries(part.properties ?? {})) yield* freePlaces(inner, `${place}.${name}`);
  if (part.items !== undefined) yield* freePlaces(part.items, `${place}[]`);
  if (typeof part.additionalProperties === 'object') yield* freePlaces(part.additionalProperties, `${place}.*`);
}

interface Definition {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: StructuralSchema } }[] };
}

const placesInSpecs = kinds.flatMap((kind) =>
  (customResourceDefinition(kind) as Definition).spec.versions.flatMap(({ schema: { openAPIV3Schema } }) =>
    [...freePlaces(openAPIV3Schema.properties?.['spec'] ?? {}, 'spec')].map((place) => `${kind.kind} ${place}`),
  ),
);

describe('free JSON of some thousand levels in an object', () => {
  it('can be in these fields of a spec alone, each of which has a check', () => {
    expect(placesInSpecs.toSorted()).toEqual(Object.keys(free).toSorted());
  });

  it.each(Object.entries(free))(
    'is refused in %s by a sentence that names the field',
    (_place, { named, problems }) => {
      for (const levels of [overflowing, serverLevels]) {
        const [line, ...more] = problems(nested(levels)).filter((one) => one.startsWith(named));
        expect([line?.length, more]).toEqual([expect.any(Number), []]);
      }
    },
  );

  it.each(
    Object.entries(free).flatMap(([place, { most = 0, ...rest }]) => (most > 0 ? [{ place, most, ...rest }] : [])),
  )('is taken in $place up to $most levels', ({ most, named, problems }) => {
    expect([most - 1, most].map((levels) => problems(nested(levels)))).toEqual([[], []]);
    const [line = '', ...more] = problems(nested(most + 1));
    expect(more).toEqual([]);
    expect(line.startsWith(named)).toBe(true);
    expect(line).toContain(String(most > limits.jsonDepth ? schemaLimits.depth : limits.jsonDepth));
  });
});

describe('an object of some thousand levels', () => {
  const run = (levels: number): FleetRun => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'FleetRun',
    metadata: { name: 'run', namespace: 'tenant-acme' },
    spec: { target: { All: {} }, tool: 'cmd.run', requested_by: 'ada', args: { a: nested(levels - 1) } },
  });
  const surroundings = { hosts: [], group: undefined, isFleetCapable: true };

  it.each([limits.jsonDepth - 1, limits.jsonDepth])(
    'is a fleet run that begins with arguments of %i',
    async (levels) => {
      expect(await fixTargets(run(levels), surroundings)).toMatchObject({ kind: 'fixed' });
    },
  );

  it.each([limits.jsonDepth + 1, 4_500, serverLevels])(
    'is a fleet run that ends refused with arguments of %i',
    async (levels) => {
      const why = { reason: 'NestedTooDeep', message: 'args: is nested deeper than 64 levels' };
      expect(await fixTargets(run(levels), surroundings)).toMatchObject({ kind: 'refused', why });
    },
  );

  it('is no revision of ours, under the name of one as well', () => {
    const ours = revisionOf({ ...workflow, metadata: { name: 'w', namespace: 'tenant-acme', uid: 'u' } });
    expect(ours.metadata.annotations).toHaveProperty([annotations.specHash]);
    const spec = { ...workflow.spec, context: { a: nested(serverLevels) } };
    expect(holdsItsContent({ ...ours, data: { spec } })).toBe(false);
  });

  it('is a definition that another one replaces without being kept', async () => {
    const calls: string[] = [];
    const called = (name: string) => async () => calls.push(name) as never;
    const keep = createKeepRevision({ get: called('get'), list: called('list'), create: called('create') });
    const spec = { ...workflow.spec, context: { a: nested(serverLevels) } };
    await keep({ ...workflow, metadata: { name: 'w', namespace: 'tenant-acme', uid: 'u' }, spec });
    expect(calls).toEqual([]);
  });

  it('AMB-154 is an execution, a workflow and an agent that its tenant can read', () => {
    const deep = { a: nested(serverLevels) };
    const meta = { name: 'w', namespace: 'tenant-acme', uid: 'u' };
    const spec = { ...workflow.spec, context: deep };
    const shown = [
      presentExecution(anExecution('run').with({ input: deep }).build()),
      presentDefinition({ ...workflow, metadata: meta, spec }, spec),
      presentAgent({ tenantOf: () => 'acme' }, agent, { ...agent.spec, output_schema: deep }),
    ].map((object) => jsonText(object) ?? '');
    expect(shown.map((text) => text.includes('(cut: more than 128 levels)'))).toEqual([true, true, true]);
  });

  it('WF-API-13 is refused as a workflow to move, by a sentence', async () => {
    const spec = { ...workflow.spec, context: { a: nested(serverLevels) } };
    const known = { ...workflow, metadata: { name: 'w', namespace: 'tenant-acme', uid: 'u' }, spec };
    const kube = { get: async () => known } as never;
    const deps = { kube, cluster: { tenants: {} as never, workflows: {} as never }, write: undefined as never };
    const move = { scope: 'user', viewer: {} as never, force: false, scopes: [] } as const;
    await expect(moveWorkflow(deps, known, move)).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: "the workflow 'w' is nested deeper than 64 levels",
    });
  });

  it('AMB-174 is an execution that is recorded without the value that was refused', async () => {
    const execution = anExecution()
      .with({ input: { a: nested(serverLevels) }, blackboard: { deep: nested(serverLevels), flat: 1 } })
      .ended('failed', 5)
      .build();
    const read = () => Promise.reject(new Error('nothing is stored'));
    const record = await readRecord(await writeRecord(execution, read, async () => undefined));
    const { input: _input, ...spec } = execution.spec;
    expect(record.execution).toEqual({ ...execution, spec: { ...spec, blackboard: { flat: 1 } } });
  });
});
