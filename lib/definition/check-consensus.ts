import { limits } from '../../crds/limits.ts';
import { errorAt, type Place, type Problem, warningAt } from '../../crds/problem.ts';
import type { Consensus } from '../../crds/schema/consensus.ts';
import type { Definition, NamedState } from './definition.ts';

/** Rules between the judges of ParallelAgents states and their consensus (WF-PAR-10, WF-PAR-11, WF-PAR-15, AMB-084). */
export function checkConsensus({ states }: Definition): readonly Problem[] {
  return states.flatMap(checkState);
}

function checkState({ at, state }: NamedState): Problem[] {
  if (state.kind !== 'ParallelAgents') return [];
  const { agents, consensus } = state;
  const place = [...at, 'consensus'];
  const allZero = agents.every((agent) => agent.weight === 0);
  return [
    ...checkCounts(place, consensus, agents.length),
    ...checkAgreement(place, consensus),
    ...checkFactors(place, consensus),
    ...(allZero ? [errorAt([...at, 'agents'], 'weights', 'every weight is 0; at least one agent must count')] : []),
  ];
}

function checkCounts(at: Place, { strategy, n, min_judges_required: least }: Consensus, agents: number): Problem[] {
  return [
    ...(strategy === 'best_of_n' && n === undefined
      ? [errorAt([...at, 'n'], 'required', 'the strategy best_of_n needs n')]
      : []),
    ...(strategy !== 'best_of_n' && n !== undefined
      ? [warningAt([...at, 'n'], 'no_effect', `has no effect on the strategy ${strategy}`)]
      : []),
    ...tooMany([...at, 'n'], n, agents),
    ...tooMany([...at, 'min_judges_required'], least, agents),
  ];
}

function tooMany(at: Place, value: number | undefined, agents: number): Problem[] {
  if (value === undefined || value <= agents) return [];
  return [errorAt(at, 'too_many', `is ${value} and greater than the number of agents, ${agents}`)];
}

function checkAgreement(at: Place, { agreement, min_agreement_confidence: other }: Consensus): Problem[] {
  if (agreement === undefined || other === undefined || agreement === other) return [];
  const message = 'agreement and min_agreement_confidence are two names of one number and differ; keep one';
  return [errorAt([...at, 'agreement'], 'conflict', message)];
}

/** 0.1 + 0.9 and the like are not quite 1 as binary fractions. */
const sumTolerance = 1e-9;

function checkFactors(at: Place, { confidence_weighting: weighting }: Consensus): Problem[] {
  if (weighting === undefined) return [];
  const agreement = weighting.agreement_factor ?? limits.agreementFactorDefault;
  const self = weighting.self_confidence_factor ?? limits.selfConfidenceFactorDefault;
  if (Math.abs(agreement + self - 1) <= sumTolerance) return [];
  const message = `agreement_factor ${agreement} and self_confidence_factor ${self} must sum to 1`;
  return [errorAt([...at, 'confidence_weighting'], 'factor_sum', message)];
}
