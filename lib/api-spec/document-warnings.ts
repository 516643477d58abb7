import { type Problem, warningAt } from '../../crds/problem.ts';
import type { OpenApiIndex } from '../openapi-document/index.ts';

/** Parts of a document that are legal and probably mistakes: steps name operations by their operationId alone (spec 3 §2.4). */
export const documentWarnings = ({ operations }: Pick<OpenApiIndex, 'operations'>): readonly Problem[] =>
  operations.size > 0
    ? []
    : [
        warningAt(
          ['document'],
          'no_operation',
          'has no operation with an operationId, so no tool workflow can call it',
        ),
      ];
