import type { TObject, TSchema } from 'typebox';
import { contracts as apiContracts } from '../../api/routes/contracts.ts';
import { type SourceSchema, sourceOf } from '../../crds/source-schema.ts';
import { type Contract, type ErrorContract, securityOfContract } from '../../lib/http/contract.ts';
import { contracts as gatewayContracts } from '../../gateway/routes/contracts.ts';
import { sharedErrors } from '../../lib/http/shared-errors.ts';
import { successStatuses } from '../../lib/http/success-statuses.ts';
import { cell, fieldTable } from './field-table.ts';

/** A process whose operations are described. */
interface Described {
  readonly title: string;
  /** Folder of its sources. */
  readonly folder: string;
  readonly introduction: string;
  readonly contracts: readonly Contract[];
}

/** The reference page of the HTTP API: each operation with a call by curl, its answer and its errors. */
export const apiReference = (): string =>
  reference({ title: 'HTTP API', folder: 'api', introduction, contracts: apiContracts });

/** The same of the tool gateway. */
export const gatewayReference = (): string =>
  reference({
    title: 'HTTP API of the tool gateway',
    folder: 'gateway',
    introduction: gatewayIntroduction,
    contracts: gatewayContracts,
  });

function reference({ title, folder, introduction: text, contracts }: Described): string {
  const byTag = Map.groupBy(contracts, ({ tag }) => tag);
  return `${[
    `# ${title}`,
    `<!-- Generated from ${folder}/ by "npm run generate". Change the sources there, not this file. -->`,
    text,
    '## Errors that operations share',
    errorTable(sharedErrors),
    ...[...byTag].flatMap(([tag, list]) => [`## ${tag}`, ...list.flatMap(operation)]),
  ].join('\n\n')}\n`;
}

const introduction = [
  'The same operations as an OpenAPI 3.1 document: `/openapi.json` of a running API, and',
  '[api/generated/openapi.json](../../api/generated/openapi.json) in the repository. `/docs` of a running API is a page',
  'to browse and to try them. In the examples `$SERVER` is the address of the API and `$TOKEN` an access token of the',
  'OpenID Connect provider that it trusts; see [the API](../api.md).',
  '',
  'Every success is 200, or 204 without a body. Every other answer is JSON. `error` never changes for the same cause,',
  'and `message` says what to do. `details` is a list of `{path, message}`, one for each mistake.',
].join('\n');

const gatewayIntroduction = [
  'The same operations as an OpenAPI 3.1 document: `/openapi.json` of a running gateway, and',
  '[gateway/generated/openapi.json](../../gateway/generated/openapi.json) in the repository. In the examples `$SERVER` is',
  'the address of the gateway and `$TOKEN` the access token of an operator; see [the gateway](../gateway.md).',
  '',
  'Every success is 200, or 202 or 204 without a body. Every other answer is JSON. `error` never changes for the same cause, and',
  '`message` names the fix. `details` is a list of `{path, message}`, one for each mistake. The operations that call tools answer with',
  'JSON-RPC objects instead.',
].join('\n');

function operation(contract: Contract): string[] {
  const { method, path, summary, description, success, errors } = contract;
  return [
    `### ${summary}`,
    `\`${method.toUpperCase()} ${path}\` · \`${contract.operationId}\``,
    ...(description === undefined ? [] : [description]),
    ...parameters(contract),
    ...body(contract),
    fence('sh', curl(contract)),
    success.description,
    ...answerExample(success),
    ...bodilessAnswers(contract),
    ...(errors.length === 0 ? [] : [errorTable(errors)]),
  ];
}

function answerExample(success: Contract['success']): string[] {
  if (success.kind === 'none') return ['The answer is 204 and has no body.'];
  if (success.kind === 'json') return [fence('json', JSON.stringify(success.example, null, 2))];
  return [fence('text', success.example.trimEnd())];
}

/** The answers beside that of the example. */
const bodilessAnswers = (contract: Contract): string[] =>
  [...successStatuses(contract)].slice(1).map(([status, when]) => `Or ${status}, without a body: ${when}`);

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

function parameters({ params, query, headers }: Contract): string[] {
  const rows = [...rowsOf('path', params), ...rowsOf('query', query), ...rowsOf('header', headers)];
  if (rows.length === 0) return [];
  return [['| Parameter | In | Required | Meaning |', '|---|---|---|---|', ...rows].join('\n')];
}

function rowsOf(place: string, schema: TObject | undefined): string[] {
  const required = new Set(schema?.required ?? []);
  return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
    const source = sourceOf(property);
    const isRequired = required.has(name) && source.default === undefined;
    return `| \`${name}\` | ${place} | ${isRequired ? 'yes' : 'no'} | ${cell(meaning(source))} |`;
  });
}

function meaning({ description = '', enum: values, default: fallback }: SourceSchema): string {
  const choice = values === undefined ? '' : `One of ${values.map((value) => `\`${value}\``).join(', ')}.`;
  const unset = fallback === undefined ? '' : `Default \`${String(fallback)}\`.`;
  return [description, choice, unset].filter(Boolean).join(' ');
}

function body({ body: contract }: Contract): string[] {
  if (contract?.kind === 'bytes')
    return contract.document === undefined ? [] : [fieldTable(sourceOf(contract.document.schema))];
  if (contract?.kind !== 'json') return [];
  const note = contract.required === false ? ['The body may be left out.'] : [];
  return [...note, fieldTable(sourceOf(contract.schema))].filter(Boolean);
}

function curl(contract: Contract): string {
  const { method, success } = contract;
  const url = `"$SERVER${contract.path.replaceAll(/\{(\w+)\}/g, '<$1>')}"`;
  const flags = [
    ...(success.kind === 'events' ? ['--no-buffer'] : []),
    ...(method === 'get' ? [] : [`-X ${method.toUpperCase()}`]),
    ...securityOfContract(contract).flatMap((scheme) => proofs[scheme] ?? []),
    ...bodyFlags(contract),
  ];
  return ['curl --fail-with-body', ...flags, url].join(' \\\n  ');
}

/** Flags that prove who calls, by security scheme. */
const proofs: Readonly<Record<string, readonly string[]>> = {
  bearer: ['-H "Authorization: Bearer $TOKEN"'],
  signature: ['-H "X-Svc-Signature: sha256=$DIGEST"'],
  sealToken: ['-H "Authorization: Bearer $SESSION_TOKEN"'],
  sealSignature: [
    '-H "Seal-Execution-Id: $EXECUTION_ID"',
    '-H "Seal-Timestamp: $TIMESTAMP"',
    '-H "Seal-Signature: $SIGNATURE"',
  ],
};

function bodyFlags(contract: Contract): string[] {
  const { body: sent } = contract;
  switch (sent?.kind) {
    case undefined:
      return [];
    case 'json':
      return ["-H 'Content-Type: application/json'", `--data '${quoted(JSON.stringify(sent.example))}'`];
    case 'text':
      return [`-H 'Content-Type: ${sent.mediaTypes[0]}'`, '--data-binary @file.yaml'];
    case 'bytes':
      if (sent.document === undefined) return ['--data-binary @file'];
      return [
        "-H 'Content-Type: application/json'",
        // An envelope is made for one call.
        securityOfContract(contract).length === 0
          ? '--data-binary @envelope.json'
          : `--data-binary '${quoted(JSON.stringify(sent.document.example))}'`,
      ];
  }
}

/** Inside the single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", String.raw`'\''`);

function errorTable(errors: readonly ErrorContract[]): string {
  const rows = errors.map(({ status, error, when, rpc = error }) => `| ${status} | \`${rpc}\` | ${cell(when)} |`);
  return ['| Status | `error` | When |', '|---|---|---|', ...rows].join('\n');
}
