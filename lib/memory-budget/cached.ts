import type { MemoryProcess } from './table.ts';

/** A kind of which processes keep every object, whole or in part. */
interface CachedRow {
  /** Objects of the kind in the default quota of a tenant (`lib/tenant/tenant-manifests.ts`). */
  readonly count: number;
  /** KiB of heap that one of them takes at most, in each process that keeps them. */
  readonly kibibytes: Partial<Readonly<Record<MemoryProcess, number>>>;
}

const apiAndControllers = (size: number) => ({ api: size, controllers: size });
const gatewayAndControllers = (size: number) => ({ gateway: size, controllers: size });

/**
 * The most that caches keep of objects that users fill, each as large as its kind permits. No pool bounds it: it grows with the tenants,
 * each of which has a quota (design §11). `test/hostile/full-*.test.ts` fills the kinds and compares.
 */
export const cachedTable = {
  // The gateway keeps those of CLI tools.
  WorkflowExecution: { count: 10_000, kibibytes: { api: 14, controllers: 22, gateway: 22 } },
  AgentExecution: { count: 10_000, kibibytes: apiAndControllers(19) },
  ToolCall: { count: 10_000, kibibytes: apiAndControllers(5) },
  Workflow: { count: 1_000, kibibytes: { api: 29, controllers: 38 } },
  ControllerRevision: { count: 5_000, kibibytes: { controllers: 23 } },
  Agent: { count: 1_000, kibibytes: apiAndControllers(38) },
  StimulusRouter: { count: 200, kibibytes: apiAndControllers(190) },
  Volume: { count: 500, kibibytes: { controllers: 2 } },
  GitBinding: { count: 100, kibibytes: { controllers: 42 } },
  SecurityContext: { count: 200, kibibytes: { gateway: 110 } },
  ToolWorkflow: { count: 1_000, kibibytes: gatewayAndControllers(34) },
  CliTool: { count: 200, kibibytes: gatewayAndControllers(34) },
  ApiSpec: { count: 200, kibibytes: gatewayAndControllers(70) },
  EdgeGroup: { count: 500, kibibytes: apiAndControllers(4) },
  FleetRun: { count: 5_000, kibibytes: apiAndControllers(5) },
  EdgeHost: { count: 10_000, kibibytes: apiAndControllers(30) },
} as const satisfies Readonly<Record<string, CachedRow>>;

type CachedKind = keyof typeof cachedTable;

/** The rows with their kinds. */
export const cachedRows: readonly (CachedRow & { readonly kind: CachedKind })[] = Object.entries<CachedRow>(
  cachedTable,
).map(([kind, row]) => ({ ...row, kind: kind as CachedKind }));

/** MiB of heap that the objects of some rows take of one tenant, at most. */
export const quotaMebibytes = (rows: typeof cachedRows, process: MemoryProcess): number =>
  rows.reduce((sum, { count, kibibytes }) => sum + count * (kibibytes[process] ?? 0), 0) / 1_024;
