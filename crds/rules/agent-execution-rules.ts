import type { CelRule } from '../schema/parts.ts';

const isSame = (field: string): string =>
  `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`;

/** Rules of an execution's spec. An admission policy has the writers of each field (crds/admission). */
export const agentExecutionRules: CelRule[] = [
  {
    rule: '!has(oldSelf.result) || (has(self.result) && self.result == oldSelf.result)',
    message: 'result: is written once',
  },
  {
    rule: '!has(oldSelf.cancel) || (has(self.cancel) && self.cancel == oldSelf.cancel)',
    message: 'cancel: cannot be taken back',
  },
  {
    rule: `self.agent == oldSelf.agent && ${['version', 'input', 'intent'].map(isSame).join(' && ')}`,
    message: 'agent, version, input and intent: are immutable; start another execution',
  },
  // The deadline is fixed when the execution begins: a change would be accepted and do nothing.
  { rule: isSame('timeout'), message: 'timeout: is immutable; cancel this execution, or start another one' },
  { rule: isSame('max_tokens'), message: 'max_tokens: is immutable; cancel this execution, or start another one' },
  { rule: isSame('max_cost_usd'), message: 'max_cost_usd: is immutable; cancel this execution, or start another one' },
  {
    rule: '!has(oldSelf.signals) || oldSelf.signals.size() == 0 || has(self.signals)',
    message: 'signals: can only be appended; none may be removed',
  },
  // An answer that stood there before the ask would be one to a call that its author has not seen.
  {
    rule: '!has(self.signals) || self.signals.all(s, (has(oldSelf.signals) && oldSelf.signals.exists(o, o.id == s.id)) || (has(oldSelf.ask) && oldSelf.ask.id == s.id))',
    message: 'signals: a new one must have the id of spec.ask, the call that waits',
  },
];
