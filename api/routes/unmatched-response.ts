import { Type } from 'typebox';
import { ExecutionError } from '../../lib/execution/execution-error.ts';
import type { ErrorContract } from '../../lib/http/contract.ts';
import { HttpError } from '../../lib/http/http-error.ts';

/** requirements AMB-170. */
export const unmatchedResponse = {
  status: 422,
  error: 'unmatched_response',
  when: 'The response matches no rule of the state that waits; nothing was written. `responses` are those that would match.',
  fields: Type.Object({
    responses: Type.Array(Type.String(), { description: 'Responses that rules of the state name and take.' }),
  }),
} as const satisfies ErrorContract;

/** The answer to a response that no rule takes; undefined for every other error. */
export function unmatchedReply(error: unknown): HttpError | undefined {
  if (!(error instanceof ExecutionError && error.reason === 'UnmatchedResponse')) return undefined;
  const { status, error: word } = unmatchedResponse;
  const fields = { responses: error.facts.responses ?? [] };
  return new HttpError({ code: 'invalid', status, error: word, message: error.message, fields, cause: error });
}
