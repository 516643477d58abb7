// A small order desk over HTTP, for the example of the tool gateway. It needs Node alone, and keeps orders in memory.
//
//   API_KEY=… node server.mjs [PORT]
//
// Each request carries API_KEY in the header X-Api-Key. HOST says which address it binds to (default 127.0.0.1); PORT 0
// takes a free one. LATENCY_MS holds up each answer. The first line on standard output is the address; after it, each
// request is one line of JSON when it arrives. The key is in none of them.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import process from 'node:process';

const bodyLimit = 65_536;
const customers = [
  { id: 'c-1', name: 'ada', discount: 10 },
  { id: 'c-2', name: 'grace', discount: 0 },
];
const goods = new Map([
  ['tea', { sku: 'g-tea', price: 450, left: 1_000_000 }],
  ['ink', { sku: 'g-ink', price: 1_200, left: 3 }],
]);
const reservations = new Map();
const orders = new Map();

class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const newId = (prefix, { size }) => `${prefix}-${size + 1}`;

function found(value, what) {
  if (value === undefined) throw new Refusal(404, `there is no such ${what}`);
  return value;
}

/** Operations by method and path; a body is read with every method. */
const operations = {
  'POST /customers/find': ({ name }) => ({
    items: [found(customers.find((customer) => customer.name === name), 'customer')],
  }),
  'GET /goods': ({ item }) => ({ data: found(goods.get(item), 'item') }),
  'POST /reservations'({ sku, quantity }) {
    const good = found([...goods.values()].find((each) => each.sku === sku), 'item');
    if (!Number.isInteger(quantity) || quantity < 1) throw new Refusal(422, 'quantity must be a whole number from 1');
    if (good.left < quantity) throw new Refusal(409, `only ${good.left} are left`);
    good.left -= quantity;
    const reservation = { id: newId('r', reservations), sku, quantity, price: good.price };
    reservations.set(reservation.id, reservation);
    return reservation;
  },
  'POST /orders'({ customer_id: customerId, reservation_id: reservationId }) {
    const customer = found(customers.find(({ id }) => id === customerId), 'customer');
    const { price, quantity } = found(reservations.get(reservationId), 'reservation');
    const total = Math.round((price * quantity * (100 - customer.discount)) / 100);
    const order = { id: newId('o', orders), customer: customer.name, total, status: 'placed' };
    orders.set(order.id, order);
    return order;
  },
  'POST /confirmations'({ order_id: id }) {
    const order = found(orders.get(id), 'order');
    order.status = 'confirmed';
    return { number: `2026-${id.slice(2).padStart(4, '0')}`, ...order };
  },
};

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > bodyLimit) throw new Refusal(413, `a request has at most ${bodyLimit} characters`);
  }
  try {
    return JSON.parse(text) ?? {};
  } catch {
    throw new Refusal(400, 'the body is not JSON');
  }
}

const digest = (text) => createHash('sha256').update(text).digest();

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The server, not yet listening. `log` gets one line for each request that arrives. */
export function createOrderDesk({ key, latencyMs = 0, log }) {
  const isRight = (given = '') => timingSafeEqual(digest(given), digest(key));
  return createServer(async (request, response) => {
    const operation = `${request.method} ${request.url}`;
    if (operation === 'GET /healthz') return answer(response, 200, { status: 'ok' });
    const isKnown = isRight(request.headers['x-api-key']);
    log(JSON.stringify({ at: new Date().toISOString(), operation: operation.slice(0, 200), key: isKnown ? 'right' : 'wrong' }));
    try {
      if (!isKnown) throw new Refusal(401, 'X-Api-Key is not the key of this desk');
      if (!Object.hasOwn(operations, operation)) throw new Refusal(404, `there is no ${operation.slice(0, 200)}`);
      const result = operations[operation](await bodyOf(request));
      setTimeout(() => answer(response, 200, result), latencyMs);
    } catch (error) {
      answer(response, error instanceof Refusal ? error.status : 500, { error: error.message });
    }
  });
}

function main([port = '8080']) {
  const { API_KEY: key, HOST: host = '127.0.0.1', LATENCY_MS: latency = '0' } = process.env;
  if (!key) {
    process.stderr.write('API_KEY is not set\nusage: API_KEY=… node server.mjs [PORT]\n');
    process.exit(2);
  }
  const log = (line) => process.stdout.write(`${line}\n`);
  const server = createOrderDesk({ key, latencyMs: Number(latency), log });
  server.listen(Number(port), host, () => log(`http://${host}:${server.address().port}`));
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
}

if (import.meta.main) main(process.argv.slice(2));
