import { limits } from '../../crds/limits.ts';

interface FactTexts {
  readonly local_tools?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

const toolLength = (tool: string): number => tool.length + limits.edgeToolCharge;
const labelLength = ([name, value]: readonly [string, string]): number =>
  name.length + value.length + limits.edgeTextCharge;

/**
 * Characters of what a daemon reports and every process keeps of every host: names of tools, and labels. Each tool counts
 * as `edgeToolCharge` more, and each label as `edgeTextCharge`. Mount points are left out, as no cache has them.
 */
export function factsLength({ local_tools: tools = [], labels = {} }: FactTexts): number {
  let sum = 0;
  for (const tool of tools) sum += toolLength(tool);
  for (const label of Object.entries(labels)) sum += labelLength(label);
  return sum;
}

/** The facts of a host that are kept, and how many are not. */
interface KeptFacts {
  readonly local_tools: string[];
  readonly labels: Record<string, string>;
  readonly leftOut: number;
}

/**
 * The facts that have room in `edgeFactsLength`: labels by name, then tools in their order. Labels come first: they are there for
 * selectors to find hosts by. The same report always gives the same ones, so that a daemon whose labels come in another order each
 * time causes no write.
 */
export function keptFacts(tools: readonly string[], labels: Readonly<Record<string, string>>): KeptFacts {
  let room: number = limits.edgeFactsLength;
  const fits = (length: number): boolean => {
    room -= length;
    return room >= 0;
  };
  const byName = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  const keptLabels = byName.filter((label) => fits(labelLength(label)));
  const keptTools = tools.filter((tool) => fits(toolLength(tool)));
  const leftOut = tools.length + byName.length - keptTools.length - keptLabels.length;
  return { local_tools: keptTools, labels: Object.fromEntries(keptLabels), leftOut };
}
