const v4 = '((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const group = '[0-9a-fA-F]{1,4}';
/** Where `::` is, from the end of the address to its beginning. */
const v6 = [
  `(${group}:){7}${group}`,
  `(${group}:){1,7}:`,
  ...[1, 2, 3, 4, 5, 6].map((after) => `(${group}:){1,${7 - after}}(:${group}){1,${after}}`),
  `:(:${group}){1,7}`,
  '::',
  `::([fF]{4}:)?${v4}`,
].join('|');

/**
 * A network in CIDR form: addresses and lengths of prefixes that exist. A rule of CEL could call `isCIDR`, which
 * Kubernetes 1.30 does not let a CustomResourceDefinition use.
 */
export const networkPattern = `^(${v4}/(3[0-2]|[12]?[0-9])|(${v6})/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))$`;
