import type { CelRule } from '../schema/parts.ts';

/** AMB-094: revoking is final. `enrolled_by` is immutable. */
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
];
