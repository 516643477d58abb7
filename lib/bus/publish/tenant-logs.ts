import type { BusCalls } from '../calls.ts';
import { token } from '../subjects.ts';
import type { MessageStream, StreamDefinition, TenantLogs, TenantLogsDefinition } from './message-stream.ts';
import { createNatsStream } from './nats-stream.ts';

export function createTenantLogs(calls: BusCalls, definition: TenantLogsDefinition): TenantLogs {
  const streamOf = (tenant: string): MessageStream => createNatsStream(calls, tenantLog(definition, tenant));
  return {
    append: (message) => streamOf(message.tenant).append(message),
    read: (query) => streamOf(query.tenant).read(query),
    peek: (query) => streamOf(query.tenant).peek(query),
    bounds: (tenant) => streamOf(tenant).bounds(),
  };
}

/** The stream of one tenant. It reserves no room: the server could not reserve that of all tenants. */
function tenantLog({ name, retention, inBatches = false }: TenantLogsDefinition, tenant: string): StreamDefinition {
  const { maxAgeMs, maxBytes } = retention;
  return {
    name: `${name}_${token(tenant)}`,
    retention: { maxAgeMs, maxBytes: 'unbounded' },
    share: { of: name, tenant, maxBytes },
    inBatches,
  };
}
