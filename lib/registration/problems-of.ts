import type { Problem } from '../../crds/problem.ts';
import { checkAgent } from '../agent/check-agent.ts';
import { checkDefinition } from '../definition/check.ts';
import type { Versioned } from './versioned.ts';

/** Everything that is wrong with a definition of either kind; paths begin with `spec`. */
export function problemsOf(versioned: Versioned): readonly Problem[] {
  return versioned.kind === 'Workflow' ? checkDefinition(versioned.spec) : checkAgent(versioned.spec);
}
