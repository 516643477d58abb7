import { limits } from '../limits.ts';
import type { CelRule } from '../schema/parts.ts';

const lists = ['tools', 'deny_list', 'path_allowlist', 'domain_allowlist'] as const;
const commands = 'subcommand_allowlist';

const chargeOf = (text: string): string => `${text}.size() + ${limits.contextTextCharge}`;
const sumOf = (list: string): string => `${list}.map(t, ${chargeOf('t')}).sum()`;
const ifThere = (field: string, sum: string): string => `(has(self.${field}) ? ${sum} : 0)`;

/** Rules of the spec of a SecurityContext. */
export const securityContextRules: CelRule[] = [
  {
    rule: "has(self.networks) == (has(self.network) && self.network == 'listed')",
    message: 'networks: is the list of network: listed, and is there with it alone',
  },
  {
    rule: `${[
      ...lists.map((field) => ifThere(field, sumOf(`self.${field}`))),
      ifThere(commands, `self.${commands}.map(c, ${chargeOf('c')} + ${sumOf(`self.${commands}[c]`)}).sum()`),
    ].join(' + ')} <= ${limits.contextTextsLength}`,
    message:
      `${lists.join(', ')} and ${commands}: have more than ${limits.contextTextsLength} characters together, ` +
      `where each text counts as ${limits.contextTextCharge} more; use fewer or shorter texts`,
  },
];
