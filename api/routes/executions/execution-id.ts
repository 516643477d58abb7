import { Type } from 'typebox';
import type { ErrorContract } from '../../../lib/http/contract.ts';

/** The path parameter of every route about one execution. */
export const ExecutionId = Type.Object(
  { execution_id: Type.String({ description: 'Id of the execution, or its name in Kubernetes.' }) },
  { additionalProperties: false },
);

/** The same for an id that is malformed, unknown or another tenant's. */
export const unknownExecution: ErrorContract = {
  status: 404,
  error: 'Execution not found',
  when: 'The tenant has no execution of that id.',
};
