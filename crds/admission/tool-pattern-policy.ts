import { celList } from '../rules/cel-text.ts';
import { builtInPrefixes, builtInTools } from '../tool-name.ts';
import type { AdmissionPolicy } from './policy.ts';

const isBuiltIn = builtInPrefixes.map((prefix) => `p.startsWith('${prefix}')`).join(' || ');

/** CEL: some name begins and ends as the pattern does. One that differs only between two stars is not found out. */
const fitsOne =
  "variables.names.exists(n, n.startsWith(p.split('*')[0]) && n.endsWith(p.split('*')[size(p.split('*')) - 1]))";

const idle = (field: string): string =>
  `has(object.spec.${field}) ? object.spec.${field}.filter(p, (${isBuiltIn}) && !(p.contains('*') ? ${fitsOne} : p in variables.names)) : []`;

const warning = (field: string) => ({
  expression: `size(variables.${field}) == 0`,
  message: `'spec.${field}: ' + variables.${field}[0] + ' fits no tool; svc.tools.list names those there are'`,
});

/**
 * Patterns of a SecurityContext that begin as the names of built-in tools do and fit none, shown by the client that writes
 * them. No registered tool may have such a name, so the pattern permits or denies nothing. A later version may have the
 * tool, so nothing is refused.
 */
export const toolPatternPolicy: AdmissionPolicy = {
  name: 'tool-pattern-warnings',
  resources: ['securitycontexts'],
  operations: ['CREATE', 'UPDATE'],
  action: 'Warn',
  variables: { names: celList(builtInTools), tools: idle('tools'), deny_list: idle('deny_list') },
  rules: [warning('tools'), warning('deny_list')],
};
