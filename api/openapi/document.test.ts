import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createValidator } from '../../crds/validators.ts';
import type { Contract } from '../../lib/http/contract.ts';
import { errorsOf } from '../../lib/http/shared-errors.ts';
import { successStatuses } from '../../lib/http/success-statuses.ts';
import { contracts } from '../routes/contracts.ts';
import { openApiDocument } from './document.ts';

type Content = Readonly<Record<string, { readonly schema?: object }>>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content; readonly $ref?: string }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string }[];
  readonly components: { readonly schemas: object; readonly responses: object };
}

/** RFC 9728 fixes the place of the second. */
const unversioned = ['/health', '/.well-known/oauth-protected-resource'];

/** Their proof is in the body. */
const signedCalls = new Set(['/v1/seal/invoke', '/v1/invoke']);

const document = openApiDocument() as unknown as Document;
const cases = contracts.map((contract) => [contract.operationId, contract] as const);
const problems = (schema: TSchema, value: unknown): readonly unknown[] => createValidator(schema)(value);

describe('the OpenAPI document', () => {
  it('has references to nothing but its own components', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(50);
    for (const [, kind = '', name = ''] of references)
      expect((document.components as Record<string, object>)[kind]).toHaveProperty(name);
  });

  it('refers to each of its schemas', () => {
    const text = JSON.stringify(document);
    for (const name of Object.keys(document.components.schemas)) expect(text).toContain(`schemas/${name}"`);
  });

  it('has a name for each object that an operation takes or gives, so that generated code has names that stay', () => {
    const unnamed = Object.values(document.paths).flatMap((operations) =>
      Object.values(operations).flatMap(({ operationId, requestBody, responses }) => {
        const json = [requestBody?.content, responses['200']?.content].map((content) => content?.['application/json']);
        return json.some((one) => one?.schema !== undefined && !('$ref' in one.schema)) ? [operationId] : [];
      }),
    );
    expect(unnamed).toEqual([]);
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['StartExecutionBody', 'StartExecutionAnswer', 'ListExecutionsAnswer', 'Execution']),
    );
  });

  it('GEN-04 AMB-185 has every path below /v1, but for /health and what another standard has put elsewhere', () => {
    const others = Object.keys(document.paths).filter((path) => !path.startsWith('/v1/'));
    expect(others.toSorted()).toEqual([...unversioned].toSorted());
  });

  it('ORCH-AUTH-03 knows nothing of what is internal', () => {
    expect(JSON.stringify(document)).not.toMatch(/dispatch-gateway|"\/ready"|"\/metrics"/);
  });

  it('is small enough to be read by people and machines', () => {
    expect(JSON.stringify(document).length).toBeLessThan(450_000);
  });
});

describe('the contracts', () => {
  it('have names and places of their own', () => {
    const ids = contracts.map(({ operationId }) => operationId);
    const places = contracts.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(places).size).toBe(places.length);
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)*$/.test(id))).toEqual([]);
  });

  it.each(cases)('ORCH-AUTH-16 of %s says who may call', (_, { access, path }) => {
    const isSigned = path.startsWith('/v1/webhooks/') || signedCalls.has(path);
    const expected = unversioned.includes(path) ? 'public' : isSigned ? 'signature' : 'bearer';
    expect(access).toBe(expected);
  });

  it.each(cases)('of %s describes exactly the parameters of its path', (_, { path, params }) => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(params?.properties ?? {})).toEqual(inPath);
  });

  it.each(cases)('of %s has examples that are as it says', (_, { body, success }) => {
    expect(body?.kind === 'json' ? problems(body.schema, body.example) : []).toEqual([]);
    const document = body?.kind === 'bytes' ? body.document : undefined;
    expect(document === undefined ? [] : problems(document.schema, document.example)).toEqual([]);
    expect(success.kind === 'json' ? problems(success.schema, success.example) : []).toEqual([]);
    expect(success.kind === 'events' ? eventProblems(success) : []).toEqual([]);
  });

  it.each(cases)('of %s names each error once, with a cause', (_, contract) => {
    for (const { status, error, when } of contract.errors) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect(error).not.toBe('');
      expect(when).toMatch(/\.$/);
    }
    const causes = contract.errors.map(({ status, error, when }) => `${status} ${error} ${when}`);
    expect(new Set(causes).size).toBe(causes.length);
  });

  // The refusals of signed calls are JSON-RPC objects with codes of their own.
  const plain = cases.filter(([, { path }]) => !signedCalls.has(path));
  it.each(plain)('of %s lists the answer to a parameter that is not valid', (_, contract) => {
    const { status = 400, error = 'invalid_request' } = contract.invalidParams ?? {};
    expect(errorsOf(contract)).toContainEqual(expect.objectContaining({ status, error }));
  });

  it.each(cases)('of %s is in the document, with all it can be answered with', (_, contract) => {
    const operation = document.paths[contract.path]?.[contract.method];
    const statuses = new Set(
      [...successStatuses(contract).keys(), ...errorsOf(contract).map(({ status }) => status)].map(String),
    );
    expect(operation?.operationId).toBe(contract.operationId);
    expect(new Set(Object.keys(operation?.responses ?? {}))).toEqual(statuses);
    const isBare = contract.access === 'public' || signedCalls.has(contract.path);
    expect(operation?.security).toEqual(isBare ? [] : [{ [contract.access]: [] }]);
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...(operation?.tags ?? [''])]));
  });

  it.each(cases)(
    'of %s describes every parameter and every field of its body',
    (_, { params, query, headers, body }) => {
      const schemas = [params, query, headers, body?.kind === 'json' ? body.schema : undefined];
      const nameless = schemas.flatMap((schema) =>
        Object.entries((schema?.properties ?? {}) as Record<string, { description?: string }>)
          .filter(([, property]) => property.description === undefined)
          .map(([name]) => name),
      );
      expect(nameless).toEqual([]);
    },
  );
});

/** Errors of the example's events, each by the schema of events. */
function eventProblems(success: Extract<Contract['success'], { kind: 'events' }>): readonly unknown[] {
  const events = [...success.example.matchAll(/^data: (.*)$/gm)].map(([, text]) => JSON.parse(text ?? '') as unknown);
  return events.flatMap((event) => problems(success.schema, event));
}
