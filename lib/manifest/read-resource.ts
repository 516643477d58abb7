import { kinds } from '../../crds/kinds.ts';
import { errorAt, type Problem } from '../../crds/problem.ts';
import { checkKind } from './check-kind.ts';
import { type LocatedProblem, readDocuments } from './yaml-document.ts';

/** Everything that is wrong with a text that is to be one custom resource of a kind, as `checkKind` finds it. */
export function readResource(text: string, kind: string): readonly LocatedProblem[] {
  const [document, ...others] = readDocuments(text);
  const start = { line: 1, column: 1 };
  if (document === undefined) return [{ ...errorAt([], 'documents', 'holds no manifest'), ...start }];
  if (others.length > 0)
    return [{ ...errorAt([], 'documents', `holds ${others.length + 1} documents; give one`), ...start }];
  const { value, problems, positionOf } = document;
  if (problems.length > 0) return problems;
  return problemsOf(value, kind).map((problem) => ({ ...problem, ...positionOf(problem.at) }));
}

function problemsOf(value: unknown, kind: string): readonly Problem[] {
  const definition = kinds.find((one) => one.kind === kind);
  if (definition === undefined) return [errorAt(['kind'], 'unknown', 'is no kind of this installation')];
  return checkKind(value, definition);
}
