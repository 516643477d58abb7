import { stringify } from 'yaml';

/**
 * A value as YAML text; long strings keep their lines, and nothing is written as an alias. Strings that YAML 1.1 takes
 * for something else, such as `no`, are quoted: that is how kubectl reads.
 */
export const writeYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
