import { isLabelName } from '../../crds/label-name.ts';
import { apiVersion } from '../../crds/labels.ts';
import type { Script, ScriptSpec } from '../../crds/schema/script.ts';
import { isUid } from '../../crds/uid.ts';
import { validateSpec } from '../../crds/validators.ts';
import { isBeingDeleted } from '../../lib/being-deleted.ts';
import type { AuditTrail } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { shortHash } from '../../lib/ids.ts';
import { scripts } from '../../lib/kinds.ts';
import { findWanted, isAbsent, isAlreadyExists, isConflict, isInvalid, type KubeClient } from '../../lib/kube/index.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { ToolArguments, ToolCaller } from '../../lib/tools/tool.ts';
import type { Searches } from '../../lib/word-search.ts';
import { writeRefusal } from '../routes/write-refusal.ts';
import { type Give, given, invalid, textArgument } from './give.ts';
import { rowOf, ScriptRows } from './script-rows.ts';
import { namespaceOf } from './volume-tools.ts';

export interface ScriptToolsDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'list' | 'jsonPatch' | 'delete'>;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  readonly audit: AuditTrail;
  readonly clock: Clock;
  readonly searches: Searches;
}

interface Deps extends ScriptToolsDeps {
  readonly rows: ScriptRows;
}

/** Scripts of the tenant as custom resources (spec 3 §10.2; ADR 0089). */
export function scriptTools(parts: ScriptToolsDeps): Record<string, Give> {
  const deps: Deps = { ...parts, rows: new ScriptRows(parts) };
  return {
    'svc.script.save': saves(deps),
    'svc.script.update': updates(deps),
    'svc.script.delete': deletes(deps),
    'svc.script.list': lists(deps),
    'svc.script.get': async (caller, args) => {
      const script = await find(deps, caller, textArgument(args, 'id'));
      return { ...rowOf(script), code: script.spec.code };
    },
  };
}

/** The fields of a script from the arguments. @throws AppError that names the field. */
function specOf(args: ToolArguments): ScriptSpec {
  const spec = given(args, 'name', 'code', 'description', 'language', 'tags');
  if (Array.isArray(spec['tags'])) spec['tags'] = [...new Set(spec['tags'])];
  if (textArgument(args, 'name').trim() !== args['name']) throw invalid('name begins or ends with blanks; remove them');
  const [problem] = validateSpec.Script(spec);
  if (problem !== undefined) throw invalid(`${problem.path.replace(/^spec\./, '')} ${problem.message}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the validator of its schema has passed it
  return spec as ScriptSpec;
}

/** The object is named after the script where Kubernetes takes the name; an id never is a name (ADR 0050). */
const objectNameOf = (name: string): string =>
  isLabelName(name) && !isUid(name) ? name : `script-${shortHash(name, 40)}`;

function saves(deps: Deps): Give {
  const { kube, tenants, audit } = deps;
  return async (caller, args) => {
    const namespace = namespaceOf(tenants, caller);
    const spec = specOf(args);
    await assertFree(deps, namespace, spec.name);
    const metadata = { name: objectNameOf(spec.name), namespace };
    const made = await kube.create(scripts, { apiVersion, kind: 'Script', metadata, spec }).catch((error: unknown) => {
      throw asRefusal(error, spec.name);
    });
    const { uid = '' } = made.metadata;
    audit.record({ type: 'ScriptSaved', by: caller, subject: uid, act: 'save', data: { script: metadata.name } });
    return rowOf(made);
  };
}

/** Where two are saved at once under one name the object's name lets one pass. */
async function assertFree({ rows }: Deps, namespace: string, name: string, own?: string): Promise<void> {
  for await (const row of rows.of(namespace)) if (row.name === name && row.id !== own) throw taken(name);
}

const taken = (name: string, cause?: unknown): HttpError =>
  new HttpError({ code: 'conflict', message: `there is a script ${name} already; update it by its id`, cause });

function asRefusal(error: unknown, name: string): unknown {
  if (isAlreadyExists(error)) return taken(name, error);
  if (isInvalid(error)) return new HttpError({ code: 'invalid', message: error.serverMessage, cause: error });
  const tooLarge = (cause: unknown) =>
    new HttpError({
      code: 'limit_exceeded',
      message: 'code: the script is larger than Kubernetes takes; make it shorter',
      cause,
    });
  return writeRefusal(error, tooLarge) ?? error;
}

function updates(deps: Deps): Give {
  const { kube, audit } = deps;
  return async (caller, args) => {
    const spec = specOf(args);
    const { metadata } = await find(deps, caller, textArgument(args, 'id'));
    const { name, namespace = '', uid = '' } = metadata;
    await assertFree(deps, namespace, spec.name, uid);
    const changed = await kube
      .jsonPatch(scripts, { name, namespace }, [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'replace', path: '/spec', value: spec },
      ])
      .catch((error: unknown) => {
        throw isAbsent(error) ? unknown(uid) : asRefusal(error, spec.name);
      });
    audit.record({ type: 'ScriptUpdated', by: caller, subject: uid, data: { script: name } });
    return rowOf(changed);
  };
}

function deletes(deps: ScriptToolsDeps): Give {
  const { kube, audit } = deps;
  return async (caller, args) => {
    const { metadata } = await find(deps, caller, textArgument(args, 'id'));
    const { name, namespace = '', uid = '' } = metadata;
    try {
      await kube.delete(scripts, { name, namespace }, { uid, propagation: 'Background' });
    } catch (error) {
      if (isConflict(error)) throw unknown(uid);
      throw error;
    }
    audit.record({ type: 'ScriptDeleted', by: caller, subject: uid, act: 'delete', data: { script: name } });
    return { id: uid, status: 'deleted' };
  };
}

const unknown = (id: string): AppError =>
  new AppError('not_found', `there is no script ${JSON.stringify(id.slice(0, 128))}; svc.script.list names them`, {
    reason: 'NOT_FOUND',
  });

/** By uid, or by the name of the object. @throws AppError `not_found`, also for a script of another tenant. */
async function find({ kube, tenants }: ScriptToolsDeps, caller: ToolCaller, id: string): Promise<Script> {
  const namespace = namespaceOf(tenants, caller);
  const byId = isUid(id);
  const [found] = await findWanted(kube, scripts, {
    namespace,
    isWanted: ({ metadata }) => !isBeingDeleted({ metadata }) && (byId ? metadata.uid : metadata.name) === id,
  });
  if (found === undefined) throw unknown(id);
  return found;
}

/** Scripts that a list answers; the quota of a tenant is as many by default. */
const most = 500;

/** TOOL-RULE-15: `tag` is one of theirs, `q` is in name and description. */
function lists(deps: Deps): Give {
  return (caller, { tag, q }) => {
    const by = { tenant: caller.tenant, words: typeof q === 'string' ? q : undefined };
    return deps.searches.run(by, async (isHolding) => {
      const rows = [];
      for await (const row of deps.rows.of(namespaceOf(deps.tenants, caller))) {
        const { name, description = '', tags = [] } = row;
        const isTagged = typeof tag !== 'string' || tags.includes(tag);
        if (!isTagged || !(await isHolding(`${name} ${description}`))) continue;
        if (rows.length === most) return { scripts: rows, truncated: true };
        rows.push(row);
      }
      return { scripts: rows };
    });
  };
}
