import { limits } from '../../crds/limits.ts';
import { errorAt, formatPlace, type Problem, warningAt } from '../../crds/problem.ts';
import type { AgentMount } from '../../crds/schema/agent.ts';
import { validateSpec } from '../../crds/validators.ts';
import { checkVariableNames } from '../definition/check-environment.ts';
import { heapBytes } from '../heap-bytes.ts';
import { isJsonObject } from '../json-object.ts';
import { checkSchema } from '../json-schema/validate.ts';
import { isTooDeep, tooDeep } from '../nesting.ts';
import { checkTemplate } from '../template/parse.ts';
import { toolNameProblem } from '../tools/known-names.ts';
import { matchesName } from '../tools/name-pattern.ts';
import { workLimits } from '../work/limits.ts';
import { Work, WorkBudgetExceeded } from '../work/work.ts';
import { checkToolSettings } from './check-tool-settings.ts';
import { badMount } from './mounts.ts';
import { toolRunsInPod } from './needs-pod.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Warnings of settings of a container that an agent has none of, unless an execution mounts a volume. */
function checkContainer({ tools, volumes, runtime, env, resources }: Fields): readonly Problem[] {
  const mounts = Array.isArray(volumes) && volumes.length > 0;
  if (mounts || (Array.isArray(tools) && tools.slice(0, limits.agentTools).some(runsInPod))) return [];
  const settings = [
    [['spec', 'runtime', 'image'], isJsonObject(runtime) ? runtime['image'] : undefined],
    [['spec', 'env'], env],
    [['spec', 'resources'], resources],
  ] as const;
  return settings.filter(([, value]) => value !== undefined).map(([place]) => warningAt(place, 'ignored', noContainer));
}

const noContainer =
  'does nothing where an execution mounts no volume: no tool of spec.tools runs in a container; add fs.* or cmd, or remove it';

const runsInPod = (tool: unknown): boolean =>
  isJsonObject(tool) && typeof tool['name'] === 'string' && toolRunsInPod(tool['name']);

/**
 * Everything that is wrong with the spec of an Agent, all at once. The API server refuses some of it. It cannot know
 * the rest: the template of the instruction, and the JSON Schema of the answer. Paths begin with `spec`.
 */
export function checkAgent(spec: unknown): readonly Problem[] {
  if (!isJsonObject(spec)) return [errorAt(['spec'], 'type', 'must be a map')];
  const unfit = checkFreeJson(spec);
  if (unfit.length > 0) return unfit;
  const { tools, env } = spec;
  return [
    ...validateSpec.Agent(spec).map(withPlaceOfNetworks),
    ...(isJsonObject(env) ? checkVariableNames(env, ['spec', 'env']) : []),
    ...checkTools(tools),
    ...checkToolSettings(tools),
    ...checkContainer(spec),
    ...checkApproval(spec),
    ...checkVolumes(spec['volumes']),
    ...checkJudge(spec['execution']),
    ...checkWithin(spec),
  ];
}

/** Bytes of heap that the free JSON of a definition may take, in each process that runs it. */
export const agentJsonBytes = 512 * 1024;

/**
 * The API server cannot measure free JSON: 1 MiB of `{}` takes 14 MiB of heap for each version that runs. Nor does it
 * bound levels, of which some thousand overflow the stack of each process that walks them.
 */
function checkFreeJson({ output_schema, tools }: Readonly<Record<string, unknown>>): readonly Problem[] {
  const configs = Array.isArray(tools)
    ? tools.map((tool: unknown) => (isJsonObject(tool) ? tool['config'] : null))
    : [];
  const parts = [
    [['spec', 'output_schema'], output_schema],
    [['spec', 'tools'], configs],
  ] as const;
  const large = parts.flatMap(([place, value]) =>
    heapBytes(value, agentJsonBytes) < agentJsonBytes
      ? []
      : [errorAt(place, 'too_large', `takes more than ${agentJsonBytes} bytes of memory; declare fewer fields`)],
  );
  if (large.length > 0) return large;
  // The check of the schema has a bound of its own.
  return configs.flatMap((config, index) =>
    isTooDeep(config) ? [errorAt(['spec', 'tools', index, 'config'], 'depth', tooDeep)] : [],
  );
}

/** A definition that takes too long to check is refused as it is. */
function checkWithin(spec: Readonly<Record<string, unknown>>): readonly Problem[] {
  const work = new Work(workLimits.registration);
  try {
    return work.during('checking the definition', () => [
      ...checkInstruction(spec['task'], work),
      ...checkOutputSchema(spec['output_schema'], work),
    ]);
  } catch (error) {
    if (error instanceof WorkBudgetExceeded) return [errorAt(['spec'], 'too_large', error.message)];
    throw error;
  }
}

/** Names of the entries of `spec.tools`, as many as there may be: a longer list is refused, and costs nothing more. */
const toolNames = (tools: unknown): readonly (string | undefined)[] =>
  Array.isArray(tools) ? tools.slice(0, limits.agentTools).map(nameOf) : [];

/** The API server takes a name once in a list of this kind, and knows no tools. */
function checkTools(tools: unknown): Problem[] {
  const names = toolNames(tools);
  return names.flatMap((name, index) => {
    const at = ['spec', 'tools', index, 'name'];
    if (name === undefined) return [];
    if (names.indexOf(name) < index) return [errorAt(at, 'duplicate', `${name} is in the list already`)];
    const problem = toolNameProblem(name.slice(0, limits.toolNameLength));
    if (problem === undefined) return [];
    const problemAt = problem.severity === 'error' ? errorAt : warningAt;
    return [problemAt(at, 'unknown_reference', problem.message)];
  });
}

/** Networks are opened by those who may make NetworkPolicies, in a SecurityContext (ADR 0100, 0126). */
function withPlaceOfNetworks(problem: Problem): Problem {
  const isNetwork = ['network', 'networks'].includes(String(problem.at.at(-1))) && problem.at[1] === 'security';
  if (!isNetwork || problem.rule !== 'unknown_field') return problem;
  const message = 'belongs to the SecurityContext that spec.security.context names';
  return { ...problem, message: `unknown field; ${message}` };
}

/** A folder that cannot be mounted would fail each execution. */
function checkVolumes(volumes: unknown): Problem[] {
  const mounts: unknown[] = Array.isArray(volumes) ? volumes.slice(0, limits.volumes) : [];
  const bad = mounts.every(isMount) ? badMount(mounts) : undefined;
  return bad === undefined ? [] : [errorAt(['spec', 'volumes', bad.index, 'mount_path'], 'mount_path', bad.message)];
}

const isMount = (value: unknown): value is AgentMount => isJsonObject(value) && typeof value['mount_path'] === 'string';

/** The agent that judges runs on a model of its own. */
function checkJudge(execution: unknown): Problem[] {
  const validation = isJsonObject(execution) ? execution['validation'] : undefined;
  if (!isJsonObject(validation) || validation['agent'] === undefined || validation['model'] === undefined) return [];
  const message = 'cannot be beside model: the agent judges on its own model; remove one of the two';
  return [errorAt(['spec', 'execution', 'validation', 'agent'], 'exclusive', message)];
}

/** A pattern that fits no tool of the agent is mostly a slip, and then calls run that a person was to see. */
function checkApproval({ approval, tools }: Readonly<Record<string, unknown>>): Problem[] {
  const patterns = isJsonObject(approval) && Array.isArray(approval['tools']) ? approval['tools'] : [];
  const names = toolNames(tools).filter((name) => name !== undefined);
  return patterns
    .slice(0, limits.approvalPatterns)
    .flatMap((pattern: unknown, index) =>
      typeof pattern !== 'string' || names.some((name) => mayFit(pattern, name))
        ? []
        : [
            warningAt(
              ['spec', 'approval', 'tools', index],
              'unknown_reference',
              `${pattern} fits no tool of spec.tools`,
            ),
          ],
    );
}

function nameOf(tool: unknown): string | undefined {
  const name = isJsonObject(tool) ? tool['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Whether a pattern of tool names and an entry of spec.tools, which may end in `.*`, have a name in common. */
function mayFit(pattern: string, name: string): boolean {
  if (!name.endsWith('.*')) return matchesName(pattern, name) || (name === 'cmd' && matchesName(pattern, 'cmd.run'));
  const prefix = name.slice(0, -1);
  const [fixed = ''] = pattern.split('*', 1);
  return fixed.startsWith(prefix) || prefix.startsWith(fixed);
}

/** Names of an execution that an instruction may read. */
const known: ReadonlySet<string> = new Set(['intent', 'input']);

function checkInstruction(task: unknown, work: Work): Problem[] {
  const source = isJsonObject(task) ? task['instruction'] : undefined;
  if (typeof source !== 'string') return [];
  const at = ['spec', 'task', 'instruction'];
  const result = checkTemplate(source, work);
  if (!result.ok) {
    const place = `line ${result.line}, column ${result.column} of the template`;
    return [errorAt(at, 'template', `${result.message} (${place})`)];
  }
  const strange = result.references.map(([root = '']) => root).filter((root) => !known.has(root));
  return [...new Set(strange)].map((root) =>
    warningAt(
      at,
      'unknown_reference',
      `{{${root}}} is always missing; an instruction may read {{intent}} and {{input}}`,
    ),
  );
}

function checkOutputSchema(schema: unknown, work: Work): Problem[] {
  if (schema === undefined) return [];
  const at = ['spec', 'output_schema'];
  return checkSchema(schema, work).map(({ path, message }) => ({
    ...errorAt(at, 'json_schema', message),
    path: path === '' ? formatPlace(at) : `${formatPlace(at)}${path.startsWith('[') ? '' : '.'}${path}`,
  }));
}
