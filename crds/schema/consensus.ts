import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { cel, type CelRule, oneOf } from './parts.ts';

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

/** WF-PAR-10 and WF-PAR-11. */
const consensusRules: CelRule[] = [
  {
    rule: "self.strategy != 'best_of_n' || has(self.n)",
    message: 'the strategy best_of_n needs n',
    fieldPath: '.n',
    reason: 'FieldValueRequired',
  },
  {
    rule: '!has(self.agreement) || !has(self.min_agreement_confidence) || self.agreement == self.min_agreement_confidence',
    message: 'agreement and min_agreement_confidence are two names of one number and differ; keep one',
    fieldPath: '.agreement',
  },
];

const factor = (field: string, absent: number) => `(has(self.${field}) ? self.${field} : ${absent})`;
const factorSum = `${factor('agreement_factor', limits.agreementFactorDefault)} + ${factor('self_confidence_factor', limits.selfConfidenceFactorDefault)}`;

/** WF-PAR-15 and AMB-084: the factors, defaults included, sum to 1 within 1e-9. */
const confidenceWeightingRules: CelRule[] = [
  {
    rule: `${factorSum} - 1.0 <= 0.000000001 && ${factorSum} - 1.0 >= -0.000000001`,
    message: 'agreement_factor and self_confidence_factor must sum to 1 (an absent one counts with its default)',
  },
];

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
