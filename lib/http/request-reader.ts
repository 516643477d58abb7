import type { IncomingHttpHeaders } from 'node:http';
import type { TObject } from 'typebox';
import { createValidator, type Validator } from '../../crds/validators.ts';
import { typedText } from '../typed-text.ts';
import type { Contract } from './contract.ts';
import { requireSingleHeaders, singleHeaders } from './header-list.ts';
import { HttpError, type RequestProblem } from './http-error.ts';
import { type BodySource, readBody } from './read-body.ts';
import { readQuery, withDefaults } from './read-query.ts';
import { invalidRequest } from './request-errors.ts';

/** Parts of a request beside its body, as they came. */
interface RawRequest {
  readonly params: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: BodySource;
  /** Throws for a JSON body that is refused whatever its form. */
  readonly assertBody?: ((body: unknown) => Promise<void>) | undefined;
}

/** Arguments of a contract's handler, all of them validated. */
export interface ReadRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
}

/** Reads and validates a request; throws HttpError with every problem of the first part that is not valid. */
export type RequestReader = (request: RawRequest) => Promise<ReadRequest>;

/** The reader of one contract: parameters, then query, then headers, and only then the body. */
export function createRequestReader(contract: Contract): RequestReader {
  const checkParams = checkerOf(contract.params, 'path');
  const checkQuery = checkerOf(contract.query, 'query');
  const checkBody = contract.body?.kind === 'json' ? createValidator(contract.body.schema, ['body']) : undefined;
  // The handler of a signed request judges its headers itself, in an order of its own (requirements AMB-045).
  const judgedHeaders = contract.access === 'signature' ? undefined : contract.headers;
  const headerNames = furtherSingleHeaders(judgedHeaders);
  const checkHeaders = checkerOf(judgedHeaders, 'header');
  // Proxies, probes and services add parameters of their own to what they call (requirements AMB-177).
  const takesAnyQuery = contract.access !== 'bearer' && contract.query === undefined;
  return async ({ params, query: text, headers: all, rawHeaders, body: source, assertBody }) => {
    refuse(checkParams(params), contract.invalidParams);
    const query = takesAnyQuery ? {} : readQuery(text, contract.query);
    refuse(checkQuery(query));
    if (headerNames.length > 0) requireSingleHeaders(rawHeaders, headerNames);
    const headers = readHeaders(all, contract.headers);
    refuse(checkHeaders(headers));
    const body = await readBody(source, contract.body);
    if (checkBody !== undefined) {
      await assertBody?.(body);
      refuseBody(checkBody(body), contract);
    }
    return { params, query, headers, body };
  };
}

/** Headers of the contract that are not looked at for every request. */
function furtherSingleHeaders(schema: TObject | undefined): readonly string[] {
  return Object.keys(schema?.properties ?? {}).filter((name) => !singleHeaders.has(name));
}

/** A part that the contract does not describe is not looked at; unknown query parameters were refused before. */
function checkerOf(schema: TObject | undefined, base: string): Validator {
  return schema === undefined ? () => [] : createValidator(schema, [base]);
}

function readHeaders(all: IncomingHttpHeaders, schema: TObject | undefined): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    const value = all[name];
    if (typeof value === 'string') values[name] = typedText(value, property);
  }
  return withDefaults(values, schema?.properties ?? {});
}

function refuseBody(problems: readonly RequestProblem[], { invalidBody, invalidFields = {} }: Contract): void {
  for (const [name, error] of Object.entries(invalidFields)) {
    const own = problems.filter(({ path }) => path === `body.${name}`);
    if (own.length > 0) throw refusal(error, [...own, ...problems.filter((problem) => !own.includes(problem))]);
  }
  if (invalidBody === undefined) return refuse(problems);
  if (problems.length === 0) return;
  const places = problems.map(({ path, message }) => ({ path: path.replace(/^body\.?/, ''), message }));
  throw refusal(invalidBody, places);
}

/** The message is that of the first problem. */
function refusal(error: string, problems: readonly RequestProblem[]): HttpError {
  const details = problems.map(({ path, message }) => ({ path, message }));
  const [{ path, message } = { path: '', message: '' }] = details;
  return new HttpError({ code: 'invalid', error, message: `${path} ${message}`.trim(), details });
}

function refuse(problems: readonly RequestProblem[], answer?: Contract['invalidParams']): void {
  const first = problems[0];
  if (first === undefined) return;
  if (answer !== undefined) throw new HttpError({ code: 'invalid', ...answer });
  const details = problems.map(({ path, message }) => ({ path, message }));
  throw invalidRequest(`${first.path} ${first.message}`, details);
}
