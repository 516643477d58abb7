import type { EventBus } from '../bus/index.ts';
import { AppError, hasReason } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import { catalogue } from './catalogue/catalogue.ts';

/** Address on the bus under which the gateway answers for one registered tool of a tenant. */
export const registeredToolService = 'gateway.tool';

/** The tool that is asked about. */
export interface RegisteredToolQuery {
  /** Slug. */
  readonly tenant: string;
  readonly tool: string;
}

/** A part of the tool's descriptor; absent: the tenant sees no such tool. */
export interface RegisteredToolFacts {
  readonly fleet_capable?: boolean;
}

/**
 * Whether a tool may be dispatched to more than one host (spec 2 §4.6, requirements AMB-108): a tool of the catalogue and a
 * registered one as its descriptor says. Any other name is a tool of the hosts' own, which they run where they have it.
 * @throws AppError `unavailable` where the gateway cannot be asked. Where no gateway runs, no tool is registered.
 */
export type FleetCapable = (tenant: string, tool: string) => Promise<boolean>;

const waitMs = 5_000;

export function createFleetCapable({ bus }: { readonly bus: Pick<EventBus, 'request'> }): FleetCapable {
  return async (tenant, tool) => {
    const row = catalogue.get(tool);
    if (row !== undefined) return row.fleet_capable;
    const query: RegisteredToolQuery = { tenant, tool };
    try {
      const answer = await bus.request({ service: registeredToolService }, JSON.stringify(query), {
        timeoutMs: waitMs,
      });
      const facts = JSON.parse(Buffer.from(answer).toString('utf8')) as RegisteredToolFacts;
      return facts.fleet_capable ?? true;
    } catch (error) {
      if (hasReason(error, 'NoResponders')) return true;
      const message = 'the tool gateway, which knows whether a fleet can run the tool, cannot be asked; try again';
      throw new AppError('unavailable', message, { reason: 'GatewayUnavailable', cause: error });
    }
  };
}

/** @throws AppError `invalid`. */
export function readRegisteredToolQuery(bytes: Uint8Array): RegisteredToolQuery {
  const query: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  if (isJsonObject(query)) {
    const { tenant, tool } = query;
    if (typeof tenant === 'string' && typeof tool === 'string') return { tenant, tool };
  }
  throw new AppError('invalid', 'the question for a registered tool is not of its form');
}
