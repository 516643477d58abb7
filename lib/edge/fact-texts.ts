import { limits } from '../../crds/limits.ts';

interface FactTexts {
  readonly local_tools?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Characters of what a daemon reports and every process keeps of every host: names of tools, and labels. Each tool counts
 * as `edgeToolCharge` more, and each label as `edgeTextCharge`. Mount points are left out, as no cache has them.
 */
export function factsLength({ local_tools: tools = [], labels = {} }: FactTexts): number {
  let sum = 0;
  for (const tool of tools) sum += tool.length + limits.edgeToolCharge;
  for (const [name, value] of Object.entries(labels)) sum += name.length + value.length + limits.edgeTextCharge;
  return sum;
}
