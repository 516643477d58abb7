import { errorAt, type Problem } from '../../crds/problem.ts';
import { validateSpec } from '../../crds/validators.ts';
import { isTooDeep, tooDeep } from '../nesting.ts';
import { workLimits } from '../work/limits.ts';
import { Work, WorkBudgetExceeded } from '../work/work.ts';
import { checkCallTool } from './check-call-tool.ts';
import { checkConditions } from './check-conditions.ts';
import { checkConsensus } from './check-consensus.ts';
import { checkDefaults } from './check-defaults.ts';
import { checkEnvironment } from './check-environment.ts';
import { checkGraph } from './check-graph.ts';
import { checkHuman } from './check-human.ts';
import { checkMounts } from './check-mounts.ts';
import { checkNames } from './check-names.ts';
import { checkExpressions, checkTemplates } from './check-references.ts';
import { checkResources } from './check-resources.ts';
import { checkSchemas } from './check-schemas.ts';
import { checkShadowed } from './check-shadowed.ts';
import { checkStorage } from './check-storage.ts';
import { checkTraps } from './check-traps.ts';
import { checkWrittenKeys } from './check-written-keys.ts';
import { type Definition, type DefinitionCheck, soundParts } from './definition.ts';

export type { Problem } from '../../crds/problem.ts';

/** Constants are what the API takes as JSON, however they came in. */
function checkContext({ spec: { context = {} } }: Definition): readonly Problem[] {
  return Object.entries(context)
    .filter(([, value]) => isTooDeep(value))
    .map(([key]) => errorAt(['spec', 'context', key], 'depth', tooDeep));
}

const checks: readonly DefinitionCheck[] = [
  checkNames,
  checkContext,
  checkGraph,
  checkConditions,
  checkHuman,
  checkCallTool,
  checkEnvironment,
  checkShadowed,
  checkTraps,
  checkWrittenKeys,
  checkConsensus,
  checkStorage,
  checkMounts,
  checkResources,
  checkTemplates,
  checkExpressions,
  checkSchemas,
  checkDefaults,
];

/**
 * Everything that is wrong with the spec of a Workflow, all at once: what the API server refuses, and what it cannot
 * know (templates, expressions, JSON Schemas). Paths begin with `spec`. Errors refuse the definition; warnings do not.
 */
export function checkDefinition(spec: unknown): readonly Problem[] {
  if (typeof spec !== 'object' || spec === null) return [errorAt(['spec'], 'type', 'must be a map')];
  const problems = validateSpec.Workflow(spec);
  const definition = soundParts(spec, problems);
  return [...problems, ...meaningOf(definition)];
}

/** A definition that takes too long to check is refused as it is, with its other mistakes unknown. */
function meaningOf(definition: Definition): readonly Problem[] {
  const work = new Work(workLimits.registration);
  const found: Problem[] = [];
  try {
    return work.during('checking the definition', () => {
      for (const check of checks) found.push(...check(definition, work));
      return found;
    });
  } catch (error) {
    if (error instanceof WorkBudgetExceeded) return [...found, errorAt(['spec'], 'too_large', error.message)];
    throw error;
  }
}
