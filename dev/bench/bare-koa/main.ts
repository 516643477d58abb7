/**
 * The baseline of reads: a Koa application that answers everything with the object its parent sends it, behind as many
 * middlewares as the API has.
 */
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import Koa from 'koa';

let answer: unknown;

const app = new Koa();
for (let index = 0; index < 3; index++) app.use(async (_ctx, next) => next());
app.use(async (ctx) => {
  ctx.body = answer;
});

process.on('message', (text: string) => (answer = JSON.parse(text)));
process.on('disconnect', () => process.exit(0));

const server = app.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
