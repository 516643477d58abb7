import { describe, expect, it } from 'vitest';
import { errorsOf } from '../../lib/http/shared-errors.ts';
import { successStatuses } from '../../lib/http/success-statuses.ts';
import { contracts } from '../routes/contracts.ts';
import { callMcp } from '../routes/mcp/contract.ts';
import { openApiDocument } from './document.ts';

const document = JSON.parse(JSON.stringify(openApiDocument())) as {
  paths: Record<
    string,
    Record<string, { responses: Record<string, object>; security?: object[]; parameters?: object[] }>
  >;
};

describe('the OpenAPI document of the gateway', () => {
  it.each(contracts.map((contract) => [contract.operationId, contract] as const))(
    'has each status under which %s answers',
    (_, contract) => {
      const statuses = [...successStatuses(contract).keys(), ...errorsOf(contract).map(({ status }) => status)];
      const { responses = {} } = document.paths[contract.path]?.[contract.method] ?? {};
      expect(new Set(Object.keys(responses))).toEqual(new Set(statuses.map(String)));
    },
  );

  it('GW-OP-01 asks at /v1/mcp for the token and every header of the signature, and at /v1/invoke for the envelope alone', () => {
    const { security, parameters } = document.paths[callMcp.path]?.['post'] ?? {};
    expect(security).toEqual([{ sealToken: [], sealSignature: [] }]);
    expect(parameters).toEqual(Array(3).fill(expect.objectContaining({ in: 'header', required: true })));
    expect(document.paths['/v1/invoke']?.['post']?.security).toEqual([]);
  });

  it('has the 202 of a notification at /v1/mcp, without a body', () => {
    const accepted = document.paths[callMcp.path]?.['post']?.responses['202'];
    expect(accepted).toMatchObject({ description: 'The message was a notification, which has no answer.' });
    expect(accepted).not.toHaveProperty('content');
  });
});
