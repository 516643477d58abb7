import type { KindDefinition } from '../../crds/kind-definition.ts';
import { limits } from '../../crds/limits.ts';
import { errorAt, formatPlace, type Problem } from '../../crds/problem.ts';
import type { ApiSpecSpec } from '../../crds/schema/api-spec.ts';
import type { CliToolSpec } from '../../crds/schema/cli-tool.ts';
import type { ToolWorkflowSpec } from '../../crds/schema/tool-workflow.ts';
import { createValidator, type Validator } from '../../crds/validators.ts';
import { credentialProblems, credentialTargetProblems } from '../api-spec/credential-problems.ts';
import { documentWarnings } from '../api-spec/document-warnings.ts';
import { builtInNameProblems } from '../api-spec/registered.ts';
import { unsentOperations } from '../api-spec/unsent.ts';
import { checkCliTool } from '../cli-tool/check-cli-tool.ts';
import { isJsonObject } from '../json-object.ts';
import { readOpenApi } from '../openapi-document/index.ts';
import { bodyWarnings } from '../tool-chain/body-warnings.ts';
import { checkToolWorkflow } from '../tool-chain/check-tool-workflow.ts';
import { checkResource } from './check-resource.ts';

/**
 * Everything that is wrong with a custom resource of a kind that is no Workflow and no Agent, as far as it can be said
 * without a cluster. It covers the metadata, the schema of the spec, and the checks of the tool gateway and the
 * controllers.
 */
export function checkKind(value: unknown, definition: KindDefinition): readonly Problem[] {
  const { kind } = definition;
  return checkResource(value, {
    kind,
    checkSpec: (spec) => checkSpec(spec, definition),
    checkName: (name) => checkName(name, definition),
  });
}

/** The meaning of a spec is checked once its schema is right. */
function checkSpec(spec: unknown, definition: KindDefinition): readonly Problem[] {
  const schema = validatorOf(definition)(spec);
  return schema.length > 0 ? schema : (meanings[definition.kind]?.(spec) ?? []);
}

const validators = new Map<string, Validator>();

function validatorOf({ kind, spec }: KindDefinition): Validator {
  const known = validators.get(kind) ?? createValidator(spec, ['spec']);
  validators.set(kind, known);
  return known;
}

/** Checks of specs beyond their schemas. */
const meanings: Readonly<Partial<Record<string, (spec: unknown) => readonly Problem[]>>> = {
  ApiSpec: (spec) => [...credentialProblems(spec as ApiSpecSpec), ...documentProblems(spec as ApiSpecSpec)],
  CliTool: (spec) => [...nameProblems(spec), ...checkCliTool(spec as CliToolSpec)],
  ToolWorkflow: (spec) => [...nameProblems(spec), ...toolWorkflowProblems(spec).map(inSpec)],
};

const inSpec = (problem: Problem): Problem => ({
  ...problem,
  at: ['spec', ...problem.at],
  path: problem.path === formatPlace(problem.at) ? formatPlace(['spec', ...problem.at]) : `spec.${problem.path}`,
});

function toolWorkflowProblems(spec: unknown): readonly Problem[] {
  const problems = checkToolWorkflow(spec, { isObject: true });
  return problems.length > 0 ? problems : bodyWarnings(spec as ToolWorkflowSpec);
}

const nameProblems = (spec: unknown): Problem[] => {
  const name = isJsonObject(spec) && typeof spec['name'] === 'string' ? spec['name'] : '';
  return builtInNameProblems(name).map(({ rule, message }) => errorAt(['spec', 'name'], rule, message));
};

/** A document in parts is in ConfigMaps, which only a cluster has. */
function documentProblems({ document, server_url: server, credentials }: ApiSpecSpec): Problem[] {
  if (document === undefined) return [];
  const { index, problems } = readOpenApi(document, server);
  if (index !== undefined) {
    const homeless = credentialTargetProblems({ credentials }, index);
    if (homeless.length > 0) return homeless;
    return documentWarnings(index, unsentOperations(index, { credentials })).map(inSpec);
  }
  return problems.map(({ path, rule, message }) => {
    const isOfSpec = path.startsWith('spec.');
    const inside = path === '' ? '' : `${path.startsWith('[') ? '' : '.'}${path}`;
    return {
      ...errorAt(isOfSpec ? path.split('.') : ['spec', 'document'], rule, message),
      path: isOfSpec ? path : `spec.document${inside}`,
    };
  });
}

const subdomain = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** The name that Kubernetes and the definition of the kind take. */
function checkName(name: unknown, { nameLength }: KindDefinition): Problem[] {
  const [form, most] = nameLength === undefined ? [subdomain, limits.objectNameLength] : [label, nameLength];
  if (typeof name === 'string' && name.length <= most && form.test(name)) return [];
  const letters = nameLength === undefined ? 'letters, digits, dashes or points' : 'letters, digits or dashes';
  const ends = nameLength === undefined ? 'a letter or digit at the ends of each part' : 'no dash first or last';
  return [errorAt(['metadata', 'name'], 'pattern', `must have up to ${most} lower-case ${letters}, ${ends}`)];
}
