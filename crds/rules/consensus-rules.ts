import { limits } from '../limits.ts';
import type { CelRule } from '../schema/parts.ts';

/** WF-PAR-10 and WF-PAR-11. */
export const consensusRules: CelRule[] = [
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
export const confidenceWeightingRules: CelRule[] = [
  {
    rule: `${factorSum} - 1.0 <= 0.000000001 && ${factorSum} - 1.0 >= -0.000000001`,
    message: 'agreement_factor and self_confidence_factor must sum to 1 (an absent one counts with its default)',
  },
];
