import type { Gateway, GatewayClient } from '../../client/index.ts';
import type { Column } from '../table.ts';

/** Something that a registration answers with, and a list shows. */
export interface GatewayRow {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  /** The verdict of the controllers; absent until they have looked, and for a kind that they do not judge. */
  readonly ready?: { readonly status: string; readonly reason: string; readonly message: string };
}

type Body = Readonly<Record<string, unknown>>;

/** One page of a list. */
interface Page {
  readonly items: readonly GatewayRow[];
  readonly next_cursor?: string | null;
}

/** Answer of a registration. */
interface Made {
  readonly id: string;
  readonly name: string;
  readonly warnings?: readonly string[];
}

/** A kind that operators register at the tool gateway, and its operations. */
export interface GatewayKind {
  /** Name in commands: `spec`. */
  readonly word: string;
  /** As sentences name it. */
  readonly noun: string;
  readonly plural: string;
  /** Kind of the custom resource. */
  readonly kind: string;
  /** Objects of this kind are found by their name, which is what the operations take. */
  readonly isNamed?: true;
  readonly columns: readonly Column<GatewayRow>[];
  register(client: GatewayClient, body: Body): Promise<Made>;
  list(client: GatewayClient, cursor: string | undefined): Promise<Page>;
  read(client: GatewayClient, idOrName: string): Promise<object>;
  delete(client: GatewayClient, idOrName: string): Promise<unknown>;
}

const text = (row: GatewayRow, field: string): string | number | undefined => {
  const value: unknown = Object.entries(row).find(([name]) => name === field)?.[1];
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
};
const column = (heading: string, field: string, wide = false): Column<GatewayRow> => ({
  heading,
  cell: (row) => text(row, field),
  wide,
});
const identity = [column('NAME', 'name'), column('SCOPE', 'scope'), column('ID', 'id')];
const verdict: Column<GatewayRow> = { heading: 'READY', cell: readyText };
const details: readonly Column<GatewayRow>[] = [
  { heading: 'MESSAGE', cell: ({ ready }) => ready?.message, wide: true },
  column('CREATED', 'created_at', true),
  column('DESCRIPTION', 'description', true),
];

/** `True`, or the status with its reason: `False: OperationNotFound`. */
export function readyText({ ready }: Pick<GatewayRow, 'ready'>): string {
  if (ready === undefined) return 'Unknown';
  return ready.status === 'True' ? 'True' : `${ready.status}: ${ready.reason}`;
}

/** In the order in which one names another. */
export const gatewayKinds: readonly GatewayKind[] = [
  {
    word: 'context',
    noun: 'security context',
    plural: 'security contexts',
    kind: 'SecurityContext',
    isNamed: true,
    columns: [...identity, { heading: 'TOOLS', cell: (row) => listed(row, 'tools', '*') }],
    // The server checks every body, and says which field is wrong.
    register: (client, body) => client.createSecurityContext({ body: body as never }),
    list: (client, cursor) => client.listSecurityContexts({ cursor }),
    read: (client, name) => client.readSecurityContext({ name }),
    delete: (client, name) => client.deleteSecurityContext({ name }),
  },
  {
    word: 'spec',
    noun: 'API spec',
    plural: 'API specs',
    kind: 'ApiSpec',
    columns: [...identity, verdict, column('SERVER', 'server'), ...details],
    register: (client, body) => client.registerApiSpec({ body: body as never }),
    list: (client, cursor) => client.listApiSpecs({ cursor }),
    read: (client, id) => client.readApiSpec({ id }),
    delete: (client, id) => client.deleteApiSpec({ id }),
  },
  {
    word: 'cli-tool',
    noun: 'CLI tool',
    plural: 'CLI tools',
    kind: 'CliTool',
    columns: [...identity, verdict, column('IMAGE', 'image'), ...details],
    register: (client, body) => client.registerCliTool({ body: body as never }),
    list: (client, cursor) => client.listCliTools({ cursor }),
    read: (client, id) => client.readCliTool({ id }),
    delete: (client, id) => client.deleteCliTool({ id }),
  },
  {
    word: 'workflow',
    noun: 'tool workflow',
    plural: 'tool workflows',
    kind: 'ToolWorkflow',
    columns: [...identity, verdict, column('STEPS', 'step_count'), ...details],
    register: (client, body) => client.registerToolWorkflow({ body: body as never }),
    list: (client, cursor) => client.listToolWorkflows({ cursor }),
    read: (client, id) => client.readToolWorkflow({ id }),
    delete: (client, id) => client.deleteToolWorkflow({ id }),
  },
];

function listed(row: GatewayRow, field: string, absent: string): string {
  const value: unknown = Object.entries(row).find(([name]) => name === field)?.[1];
  return Array.isArray(value) ? value.join(',') : absent;
}

/** Every row of a list, page by page. */
export async function allRows(kind: GatewayKind, client: GatewayClient): Promise<GatewayRow[]> {
  const rows: GatewayRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await kind.list(client, cursor);
    rows.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return rows;
}

/** A tool of the unified list. */
export type GatewayToolRow = Gateway.ListToolsReply['items'][number];
