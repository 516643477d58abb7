import { limits } from '../../crds/limits.ts';

interface FactTexts {
  readonly local_tools?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Characters of what a daemon reports and every process keeps of every host: names of tools, and labels. Each tool and
 * label counts as `edgeFactCharge` more. Mount points are left out, as no cache has them.
 */
export function factsLength({ local_tools: tools = [], labels = {} }: FactTexts): number {
  const texts = [...tools, ...Object.entries(labels).map(([name, value]) => `${name}${value}`)];
  return texts.reduce((sum, text) => sum + text.length + limits.edgeFactCharge, 0);
}
