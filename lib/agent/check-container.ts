import { limits } from '../../crds/limits.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import { isJsonObject } from '../json-object.ts';
import { toolRunsInPod } from './needs-pod.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Warnings of settings of a container that an agent has none of, unless an execution mounts a volume. */
export function checkContainer({ tools, volumes, runtime, env, resources }: Fields): readonly Problem[] {
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
