import { limits } from '../limits.ts';
import type { CelRule } from '../schema/parts.ts';

const sumOf = (list: string, text: string): string =>
  `(has(self.${list}) ? self.${list}.map(t, ${text} + ${limits.edgeTextCharge}).sum() : 0)`;

/** AMB-094: revoking is final. `enrolled_by` is immutable. Every replica keeps the tags and labels of every host. */
export const edgeHostRules: CelRule[] = [
  {
    rule: '!(has(oldSelf.revoked) && oldSelf.revoked) || (has(self.revoked) && self.revoked)',
    message: 'a revoked host stays revoked; enroll the machine again',
    fieldPath: '.revoked',
  },
  {
    rule: '!has(oldSelf.enrolled_by) || (has(self.enrolled_by) && self.enrolled_by == oldSelf.enrolled_by)',
    message: 'says who enrolled the host, and does not change',
    fieldPath: '.enrolled_by',
  },
  {
    rule: `${sumOf('tags', 't.size()')} + ${sumOf('labels', 't.size() + self.labels[t].size()')} <= ${limits.edgeTextsLength}`,
    message:
      `tags and labels: have more than ${limits.edgeTextsLength} characters together, where each tag and label counts as ` +
      `${limits.edgeTextCharge} more; use fewer or shorter ones`,
  },
];
