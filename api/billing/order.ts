import { invalidField } from '../../lib/http/request-errors.ts';
import type { PriceRole, Tier } from './objects.ts';
import type { Order } from './payment-provider.ts';

/** The body of a checkout, valid by its schema. */
export interface CheckoutRequest {
  readonly price_id: string;
  readonly seat_price_id?: string | undefined;
  readonly seats?: number | undefined;
}

/** Seats are sold for the period of the base price, so that one invoice covers both. */
const seatRoleOf = { monthly: 'seat_monthly', annual: 'seat_annual' } as const satisfies Partial<
  Record<PriceRole, PriceRole>
>;

/**
 * The order of a request. Only prices that are offered can be bought; any caller could otherwise pay the price of
 * another product of the same account. The price of seats without their number means one (requirements AMB-184).
 * @throws HttpError 400 that names the field.
 */
export function readOrder(request: CheckoutRequest, tiers: readonly Tier[]): Order {
  const { price_id: priceId, seat_price_id: seatPriceId, seats } = request;
  const base = findBase(priceId, tiers);
  if (base === undefined) {
    throw invalidField('body.price_id', 'is not among the prices monthly and annual of GET /v1/billing/prices');
  }
  if (seatPriceId === undefined && seats === undefined) return { priceId };
  if (seatPriceId === undefined) throw invalidField('body.seat_price_id', 'is required when seats are asked for');
  const seatRole = seatRoleOf[base.role];
  if (base.tier[seatRole]?.price_id !== seatPriceId) {
    throw invalidField('body.seat_price_id', `must be the price ${seatRole} of the tier ${base.tier.tier}`);
  }
  return seats === 0 ? { priceId } : { priceId, seats: { priceId: seatPriceId, quantity: seats ?? 1 } };
}

interface BasePrice {
  readonly tier: Tier;
  readonly role: keyof typeof seatRoleOf;
}

function findBase(priceId: string, tiers: readonly Tier[]): BasePrice | undefined {
  for (const tier of tiers) {
    for (const role of ['monthly', 'annual'] as const) {
      if (tier[role]?.price_id === priceId) return { tier, role };
    }
  }
  return undefined;
}
