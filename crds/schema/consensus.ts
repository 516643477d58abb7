import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { confidenceWeightingRules, consensusRules } from '../rules/consensus-rules.ts';
import { cel, oneOf } from './parts.ts';

/** spec 1 §2.6, `agents[]` of a ParallelAgents state. */
export const Judge = Type.Object(
  {
    agent: Type.String({
      minLength: 1,
      maxLength: limits.objectNameLength,
      description: 'Name or uid of a deployed agent.',
    }),
    input: Type.Optional(Type.String({ maxLength: limits.templateLength, description: 'Template; the task input.' })),
    weight: Type.Optional(
      Type.Number({ minimum: 0, default: limits.judgeWeightDefault, description: 'How much the judge counts.' }),
    ),
    timeout_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        default: limits.judgeTimeoutSecondsDefault,
        description: 'How long the judge may take.',
      }),
    ),
    poll_interval_ms: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 600_000,
        default: limits.judgePollIntervalMsDefault,
        description: 'How often it is asked whether it has ended.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type Judge = Static<typeof Judge>;

const fraction = (options: object = {}) => Type.Number({ minimum: 0, maximum: 1, ...options });

/** spec 1 §2.6, `consensus` of a ParallelAgents state. */
export const Consensus = Type.Object(
  {
    strategy: oneOf(['weighted_average', 'majority', 'unanimous', 'best_of_n'], {
      description: 'How the scores become one.',
    }),
    threshold: Type.Optional(
      fraction({ default: limits.consensusThresholdDefault, description: 'A judge agrees from this score on.' }),
    ),
    min_agreement_confidence: Type.Optional(fraction({ description: 'The least confidence of a consensus.' })),
    agreement: Type.Optional(fraction({ description: 'Another name of min_agreement_confidence.' })),
    n: Type.Optional(Type.Integer({ minimum: 1, description: 'How many of the best judges count; best_of_n only.' })),
    min_judges_required: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: limits.minJudgesDefault,
        description: 'The state fails when fewer judges complete.',
      }),
    ),
    confidence_weighting: Type.Optional(
      Type.Object(
        {
          agreement_factor: Type.Optional(
            fraction({ default: limits.agreementFactorDefault, description: 'Weight of how much the judges agree.' }),
          ),
          self_confidence_factor: Type.Optional(
            fraction({
              default: limits.selfConfidenceFactorDefault,
              description: 'Weight of how sure they say they are.',
            }),
          ),
        },
        {
          additionalProperties: false,
          description: 'Weights of the two parts of confidence; they add up to 1.',
          ...cel(...confidenceWeightingRules),
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'How the judges come to one score.', ...cel(...consensusRules) },
);
export type Consensus = Static<typeof Consensus>;
