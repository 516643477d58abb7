import { Document, Scalar, stringify, visit } from 'yaml';

const options = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const;

/**
 * A value as YAML text; long strings keep their lines, and nothing is written as an alias. Strings that YAML 1.1 takes
 * for something else, such as `no`, are quoted: that is how kubectl reads.
 */
export const writeYaml = (value: unknown): string => stringify(value, options);

/** The same; strings, keys among them, in which `pattern` is found have double quotes. */
export function writeQuotedYaml(value: unknown, pattern: RegExp): string {
  const text = writeYaml(value);
  if (text.search(pattern) < 0) return text;
  const document = new Document(value, options);
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && node.value.search(pattern) >= 0) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString(options);
}
