import { Type } from 'typebox';

/** The path parameter of every route about one execution. */
export const ExecutionId = Type.Object(
  { execution_id: Type.String({ description: 'Id of the execution, or its name in Kubernetes.' }) },
  { additionalProperties: false },
);
