const mib = 1_048_576;

/** A list of one value after another, as long as a body may be. */
export function listOf(unit: string, bytes: number = mib): string {
  return `[${Array(Math.floor((bytes - 2) / (unit.length + 1)))
    .fill(unit)
    .join(',')}]`;
}

function objectOf(key: (index: number) => string, bytes: number = mib): string {
  const fields: string[] = [];
  for (let size = 2, index = 0; ; index += 1) {
    const field = `"${key(index)}":0`;
    size += field.length + 1;
    if (size > bytes) return `{${fields.join(',')}}`;
    fields.push(field);
  }
}

/** JSON texts of 1 MiB, each the worst of a kind that an attacker would try, by name. */
export const hostileShapes: Readonly<Record<string, string>> = {
  'empty objects': listOf('{}'),
  'empty lists': listOf('[]'),
  'lists in lists': listOf('['.repeat(60) + ']'.repeat(60)),
  'objects in objects': listOf(`${'{"a":'.repeat(60)}0${'}'.repeat(60)}`),
  'objects with an index far off': listOf('{"63":0}'),
  'objects with an index out of range': listOf('{"4294967294":0}'),
  'objects of one field': listOf('{"a":0}'),
  'objects that share no key': `[${Array.from({ length: 80_000 }, (_, index) => `{"${index.toString(36)}x":0}`).join(',')}]`,
  'one object of many fields': objectOf((index) => `k${index}`),
  'one object of many indexes': objectOf(String),
  numbers: listOf('0'),
  fractions: listOf('0.1'),
  'short strings': listOf('"a"'),
  'empty strings': listOf('""'),
  escapes: `["${String.raw`\u0041`.repeat(170_000)}"]`,
  'one string': `"${'x'.repeat(mib - 2)}"`,
  'one string of other letters': `"${'\u4e2d'.repeat(340_000)}"`,
};
