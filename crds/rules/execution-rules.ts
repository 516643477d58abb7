import type { CelRule } from '../schema/parts.ts';

const sameOrAbsent = (field: string): string =>
  `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`;

const immutable = (field: string): CelRule => ({
  rule: sameOrAbsent(field),
  message: `${field} is immutable; start another execution`,
  fieldPath: `.${field}`,
});

/**
 * Rules of an execution's spec. `input` and `blackboard` hold values that the API server's rules of a definition
 * cannot read; an admission policy keeps them (crds/admission).
 */
export const executionRules: CelRule[] = [
  {
    rule: 'self.workflow == oldSelf.workflow',
    message: 'workflow is immutable; start another execution',
    fieldPath: '.workflow',
  },
  ...['version', 'intent', 'parent', 'origin'].map(immutable),
  {
    rule: '!has(oldSelf.signals) || oldSelf.signals.size() == 0 || has(self.signals)',
    message: 'signals can only be appended; none may be removed',
    fieldPath: '.signals',
  },
  {
    rule: '!has(oldSelf.cancel) || (has(self.cancel) && self.cancel == oldSelf.cancel)',
    message: 'cancel cannot be changed or taken back',
    fieldPath: '.cancel',
  },
];

/** Rules of the list of signals. An admission policy checks that new ones follow old ones. */
export const signalListRules: CelRule[] = [
  {
    rule: '[self.map(s, s.id)].all(ids, oldSelf.all(o, o.id in ids))',
    message: 'signals can only be appended; none may be removed',
  },
];

/** Rules of one signal; signals are matched by their id. */
export const signalRules: CelRule[] = [
  { rule: 'self == oldSelf', message: 'a signal cannot be changed; append another' },
];
