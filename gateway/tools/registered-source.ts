import { holderOf, type Registered, registeredNameOf } from '../../lib/api-spec/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { isKeptApart } from '../../lib/json-schema/large-schema.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import type { Tenancy } from '../identity/tenancy.ts';
import { isSettling, type Judged, notReadyOf } from './require-accepted.ts';
import { createSchemaReader, type SchemaReader } from './schema-reader.ts';
import type { GatewayTool, JsonObject, ToolSource } from './tool-source.ts';

/** An object that is a tool. */
type RegisteredObject = KubeObject &
  Judged &
  Registered & { readonly spec: { readonly description: string; readonly input_schema: object } };

/** Objects of one namespace that share the names of tools. */
type Rivals = (namespace: string) => readonly Registered[];

/**
 * Tells which object a name means where several that a tenant sees claim it, of whatever kind and place: a shared one, else
 * the oldest, as in the condition Ready. Lists and calls go by it alike (GW-WF-01, GW-OP-20).
 */
interface Holders {
  /** The holder of each name. */
  all(tenant: string | undefined): ReadonlySet<Registered>;
  of(tenant: string | undefined, name: string): Registered | undefined;
}

function createHolders(tenancy: Pick<Tenancy, 'visibleTo'>, rivals: Rivals): Holders {
  const visible = (tenant: string | undefined): Registered[] => tenancy.visibleTo(tenant).flatMap(rivals);
  return {
    all(tenant) {
      const claims = Map.groupBy(visible(tenant), registeredNameOf);
      return new Set([...claims.values()].flatMap((claimants) => holderOf(claimants) ?? []));
    },
    of: (tenant, name) => holderOf(visible(tenant).filter((object) => registeredNameOf(object) === name)),
  };
}

/** Needs of a source of registered tools of one kind of object. */
export interface RegisteredDeps<T> {
  readonly clock: Clock;
  readonly tenancy: Pick<Tenancy, 'visibleTo'>;
  readonly objects: { byIndex(index: 'namespace', key: string): readonly T[] };
  /** The object in full, of which the cache keeps less; undefined where it is gone. */
  readonly whole: (object: T) => Promise<T | undefined>;
  /** Shared by all sources. Default: one of its own. */
  readonly schemas?: SchemaReader;
  /** All that share names with these objects, of one namespace. Default: these objects alone. */
  readonly rivals?: Rivals;
}

interface RegisteredKind<T> extends Pick<GatewayTool, 'awaitsIntent'> {
  readonly source: GatewayTool['source'];
  readonly callOf: (object: T) => GatewayTool['call'];
  /** Why no caller is offered the tool. Default: the verdict of the controllers. */
  readonly notReady?: (object: T) => string | undefined;
  /** The tool of a name that no object holds. Default: there is none. */
  readonly unheld?: (tenant: string | undefined, name: string) => GatewayTool | undefined;
}

/** Objects of one kind as tools, each under the name that it holds. */
export function createRegisteredSource<T extends RegisteredObject>(
  { clock, tenancy, objects, whole, ...deps }: RegisteredDeps<T>,
  { callOf, unheld = () => undefined, notReady: notReadyIn = notReadyOf, ...kind }: RegisteredKind<T>,
): ToolSource {
  const schemas = deps.schemas ?? createSchemaReader(clock);
  const holders = createHolders(tenancy, deps.rivals ?? ((place) => objects.byIndex('namespace', place)));
  const visible = (tenant: string | undefined): T[] =>
    tenancy.visibleTo(tenant).flatMap((place) => objects.byIndex('namespace', place));
  const toolOf = (object: T): GatewayTool => {
    const { description, input_schema: schema } = object.spec;
    const notReady = notReadyIn(object);
    const read = async () => (await whole(object))?.spec.input_schema as JsonObject | undefined;
    return {
      ...kind,
      name: registeredNameOf(object),
      description,
      input_schema: schema as JsonObject,
      ...(isKeptApart(schema as JsonObject) && { readSchema: () => schemas.schemaOf(object, read) }),
      ...(notReady !== undefined && { notReady, isSettling: isSettling(object, clock.now()) }),
      skip_judge: false,
      fleet_capable: false,
      call: callOf(object),
    };
  };
  return {
    list(tenant) {
      const held = holders.all(tenant);
      return visible(tenant)
        .filter((object) => held.has(object))
        .map(toolOf);
    },
    find(tenant, name) {
      const holder = holders.of(tenant, name);
      if (holder === undefined) return unheld(tenant, name);
      const found = visible(tenant).find((object) => object === holder);
      return found && toolOf(found);
    },
  };
}
