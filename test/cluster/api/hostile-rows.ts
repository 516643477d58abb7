import { gzipSync } from 'node:zlib';
import type { TObject, TSchema } from 'typebox';
import { createValidator } from '../../../crds/validators.ts';
import type { BodyContract, Contract } from '../../../lib/http/contract.ts';
import { readQuery } from '../../../lib/http/read-query.ts';

/** A request in its parts. */
export interface Parts {
  /** With its parameters filled in. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array | undefined;
}

/** One thing that is wrong with an otherwise good request. */
export interface Row {
  readonly what: string;
  /** The only status that will do; without it any documented 4xx. */
  readonly status?: number;
  /** Where `details` must point to. */
  readonly at?: string;
  change(good: Parts): Parts;
}

/** Everything that can be wrong with a request of this operation, each by itself. */
export function rowsOf(contract: Contract): Row[] {
  return [...paramRows(contract), ...queryRows(contract), ...headerRows(contract), ...bodyRows(contract)];
}

/** Values that a client may send in place of the expected ones. */
const values: readonly unknown[] = [
  null,
  true,
  0,
  1,
  -1,
  1.5,
  1e15,
  '',
  ' ',
  'x',
  '\u0000',
  'é',
  '🚲',
  '../..',
  '__proto__',
  'x'.repeat(256),
  'x'.repeat(1_025),
  'x'.repeat(65_537),
  [],
  [1],
  ['x'],
  {},
  { a: 1 },
];

/** A value as a title can show it. */
const shown = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length <= 24 ? text : `${text.slice(0, 12)}… (${text.length} characters)`;
};

const fieldsOf = (schema: TObject | undefined): [string, TSchema][] => Object.entries(schema?.properties ?? {});

/** Each path parameter as it is not. `idRows` has texts that resemble an id and are none. */
function paramRows({ params, path }: Contract): Row[] {
  const wrong = ['%00', '%2e%2e%2f', '..%2F..%2Fetc', '%F0%9F%9A%B2', '%ff', '%', "a'b", '__proto__', 'constructor'];
  return fieldsOf(params).flatMap(([name]) =>
    [...wrong, 'x'.repeat(300), 'x'.repeat(5_000)].map((text) => ({
      what: `${name} = ${shown(text)}`,
      change: (good) => ({ ...good, path: fill(path, good, name, text) }),
    })),
  );
}

/** The path with one parameter exchanged; the others stay as they were filled in. */
function fill(template: string, { path }: Parts, name: string, text: string): string {
  const filled = path.split('/');
  return template
    .split('/')
    .map((part, index) => (part === `{${name}}` ? text : (filled[index] ?? '')))
    .join('/');
}

/** Another party's system may add any parameter to an address (requirements AMB-177). */
const looksAtNoQuery = ({ access, query }: Contract): boolean => access !== 'bearer' && query === undefined;

function queryRows(contract: Contract): Row[] {
  if (looksAtNoQuery(contract)) return [];
  const { query } = contract;
  const texts = [
    '',
    ' ',
    'x',
    '0',
    '-1',
    '1.5',
    '1e3',
    '99999999999999999999',
    'TRUE',
    '%00',
    '%F0%9F%9A%B2',
    'x'.repeat(3_000),
  ];
  const refused = ([name]: [string, TSchema]): Row[] =>
    texts
      .filter((text) => isRefused(query, name, text))
      .map((text) => ({
        what: `?${name}=${shown(text)}`,
        status: 400,
        at: `query.${name}`,
        change: (good) => ({ ...good, query: `${name}=${text}` }),
      }));
  const twice = ([name]: [string, TSchema]): Row => ({
    what: `?${name} twice`,
    status: 400,
    at: `query.${name}`,
    change: (good) => ({ ...good, query: `${name}=a&${name}=a` }),
  });
  const unknown = ['nonsense=1', '__proto__=1', 'constructor=1', 'a[b]=1'].map(
    (text): Row => ({ what: `?${text}`, status: 400, change: (good) => ({ ...good, query: text }) }),
  );
  const badly = { what: '?%ff', status: 400, change: (good: Parts) => ({ ...good, query: '%ff=1' }) };
  return [...fieldsOf(query).flatMap(refused), ...fieldsOf(query).filter(isSingle).map(twice), ...unknown, badly];
}

/** A list is given by its name, as often as it has members. */
const isSingle = ([, schema]: [string, TSchema]): boolean => !('type' in schema && schema.type === 'array');

function isRefused(query: TObject | undefined, name: string, text: string): boolean {
  if (query === undefined) return true;
  return createValidator(query)(readQuery(`${name}=${text}`, query)).length > 0;
}

/** Headers that a request has once, or, where the contract bounds them, within their bounds. */
function headerRows({ access, body, headers }: Contract): Row[] {
  const single = [
    ...(access === 'bearer' ? ['authorization', 'x-tenant-id'] : []),
    ...(body === undefined ? [] : ['content-type', 'content-encoding']),
    ...fieldsOf(headers).map(([name]) => name),
    'x-request-id',
  ];
  const twice = single.flatMap((name) => [
    { what: `header ${name} twice, alike`, status: 400, change: (good: Parts) => addTwice(good, name, 'a', 'a') },
    { what: `header ${name} twice, differently`, status: 400, change: (good: Parts) => addTwice(good, name, 'a', 'b') },
  ]);
  const bounded = fieldsOf(headers).flatMap(([name, schema]) => {
    const texts = ['x'.repeat(1_025), 'x'.repeat(2_000)].filter((text) => createValidator(schema)(text).length > 0);
    return texts.map((text) => ({
      what: `header ${name} of ${text.length} characters`,
      status: 400,
      at: `header.${name}`,
      change: (good: Parts) => ({ ...good, headers: [...without(good, name), [name, text] as const] }),
    }));
  });
  return [...twice, ...bounded];
}

const without = ({ headers }: Parts, name: string): Parts['headers'] => headers.filter(([own]) => own !== name);

/** Twice in place of what the good request has; where it has one, that one is sent first. */
function addTwice(good: Parts, name: string, first: string, second: string): Parts {
  const own = good.headers.find(([header]) => header === name)?.[1];
  const pair = [own ?? first, own !== undefined && first === second ? own : second];
  return { ...good, headers: [...without(good, name), ...pair.map((value) => [name, value] as const)] };
}

function bodyRows({ body }: Contract): Row[] {
  if (body === undefined) {
    return [
      {
        what: 'a body where none belongs',
        status: 400,
        change: (good) => ({ ...good, headers: [...good.headers, ['content-type', 'application/json']], body: '{}' }),
      },
    ];
  }
  return [...anyBodyRows(body), ...(body.kind === 'json' ? [...jsonRows(body), ...fieldRows(body.schema)] : [])];
}

const withType = (good: Parts, type: string): Parts['headers'] => [
  ...without(good, 'content-type'),
  ['content-type', type],
];

/** The same body, signed as it is, under a coding that it does not have. */
const falselyCompressed: Row = {
  what: 'a body that is not compressed as it says',
  status: 400,
  change: (good) => ({ ...good, headers: [...good.headers, ['content-encoding', 'gzip']] }),
};

/** Rows for a body of any kind. */
function anyBodyRows(body: BodyContract): Row[] {
  const compressed: Row = {
    what: 'a compressed body',
    status: 415,
    change: (good) => ({
      ...good,
      headers: [...good.headers, ['content-encoding', 'gzip']],
      body: gzipSync(good.body ?? ''),
    }),
  };
  const most = body.maxBytes ?? 1_048_576;
  const large: Row = {
    what: `a body of ${most + 1} bytes`,
    status: 413,
    change: (good) => ({ ...good, body: Buffer.alloc(most + 1, 0x20) }),
  };
  // Compressed bytes are bytes to a sender that signs them: here the signature is that of others.
  if (body.kind === 'bytes')
    return [{ ...compressed, what: 'a body compressed after it was signed', status: 401 }, falselyCompressed];
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
    'application/json; charset=latin1',
  ];
  const texts: [what: string, body: string | Uint8Array][] = [
    ['half of a character', Buffer.from([0x22, 0xc3, 0x22])],
    ['no text at all', Buffer.from([0xff, 0xfe, 0x00, 0x01])],
    ['a NUL', '\u0000'],
  ];
  return [
    compressed,
    large,
    ...types.map(
      (type): Row => ({
        what: `content type ${type}`,
        status: 415,
        change: (good) => ({ ...good, headers: withType(good, type) }),
      }),
    ),
    {
      what: 'no content type',
      status: 415,
      change: (good) => ({ ...good, headers: without(good, 'content-type') }),
    },
    ...texts.map(
      ([what, text]): Row => ({
        what: `a body that is ${what}`,
        status: 400,
        change: (good) => ({ ...good, body: text }),
      }),
    ),
  ];
}

/** JSON that is no object, or none that everybody reads alike. */
function jsonRows({ required }: BodyContract & { kind: 'json' }): Row[] {
  const deep = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
  const texts: [what: string, text: string][] = [
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"x"'],
    ['a number', '1'],
    ['true', 'true'],
    ['cut off', '{"a": '],
    ['followed by more', '{} {}'],
    ['with a comment', '{} // x'],
    ['behind a byte order mark', '\ufeff{}'],
    ['a hundred levels deep', deep],
    ['with an unknown field', '{"nonsense": 1}'],
    ['with __proto__', '{"__proto__": {"a": 1}}'],
    ['with constructor', '{"constructor": {"prototype": {"a": 1}}}'],
    ...(required === false ? [] : ([['empty', '']] as [string, string][])),
  ];
  return texts.map(([what, text]) => ({
    what: `a body ${what}`,
    status: 400,
    change: (good) => ({ ...good, body: text }),
  }));
}

type Fields = Record<string, unknown>;
const parse = (good: Parts): Fields => JSON.parse(String(good.body ?? '{}')) as Fields;

/** Each field of an object as it is not allowed to be. */
function fieldRows(schema: TObject): Row[] {
  return fieldsOf(schema).flatMap(([name, field]) => [
    ...(schema.required?.includes(name) === true ? [missing(name)] : []),
    ...values.filter((value) => createValidator(field)(value).length > 0).map((value) => replaced(name, value)),
    ...rawRows(name),
  ]);
}

const missing = (name: string): Row => ({
  what: `body.${name} missing`,
  status: 400,
  at: `body.${name}`,
  change(good) {
    const { [name]: _, ...rest } = parse(good);
    return { ...good, body: JSON.stringify(rest) };
  },
});

const replaced = (name: string, value: unknown): Row => ({
  what: `body.${name} = ${shown(value)}`,
  status: 400,
  at: `body.${name}`,
  change: (good) => ({ ...good, body: JSON.stringify({ ...parse(good), [name]: value }) }),
});

/** Faults that only the text of a document can have. */
function rawRows(name: string): Row[] {
  const put = (good: Parts, literal: string): Parts => {
    const { [name]: _, ...rest } = parse(good);
    const others = Object.entries(rest).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    return { ...good, body: `{${[...others, literal].join(',')}}` };
  };
  const literals: [what: string, literal: string][] = [
    ['twice', `"${name}":"x","${name}":"x"`],
    ['twice, once escaped', `"${name}":"x","\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":"x"`],
    ['half of a character', `"${name}":"\\ud800"`],
    ['a number beyond all', `"${name}":1e999`],
    ['a whole number beyond 2^53', `"${name}":9007199254740993`],
  ];
  return literals.map(([what, literal]) => ({
    what: `body.${name} ${what}`,
    status: 400,
    change: (good) => put(good, literal),
  }));
}
