import { type GatewayClient, WindlassApiError } from '../../client/index.ts';
import { CliError } from '../exit-codes.ts';
import { allRows, type GatewayKind, type GatewayRow } from './kinds.ts';

/** That of the tenant before a shared one. */
export async function findRow(kind: GatewayKind, client: GatewayClient, name: string): Promise<GatewayRow> {
  const rows = (await allRows(kind, client)).filter((row) => row.name === name);
  const found = rows.find(({ scope }) => scope === 'tenant') ?? rows[0];
  if (found !== undefined) return found;
  throw notThere(kind, name);
}

/** That there is no such thing, said as this command does; any other error as it is. */
export const missing = (error: unknown, kind: GatewayKind, name: string): unknown =>
  error instanceof WindlassApiError && error.status === 404 ? notThere(kind, name) : error;

const notThere = ({ noun, plural, word }: GatewayKind, name: string): CliError =>
  new CliError('not_found', `there is no ${noun} ${name}`, `List ${plural}: windlass gateway ${word} list`);
