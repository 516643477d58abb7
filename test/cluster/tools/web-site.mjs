// A site of an intranet: a page, redirects to it and to the address in INSIDE, and a search in the protocol of SearXNG.
import { createServer } from 'node:http';
import process from 'node:process';

const page = '<html><head><title>T</title></head><body><h1>Welcome</h1><p>Read <a href="/next">more</a>.</p></body></html>';

const send = (response, status, headers, body = '') => response.writeHead(status, headers).end(body);
const html = { 'content-type': 'text/html; charset=utf-8' };
const json = { 'content-type': 'application/json' };

/** Results as SearXNG gives them for `format=json`, on which the server of the site insists. */
function search({ searchParams: query }, response) {
  const asked = query.get('q') ?? '';
  if (asked === 'broken') return send(response, 500, json, '{}');
  if (query.get('format') !== 'json') return send(response, 403, html);
  const results = [1, 2, 3].map((n) => ({
    url: `http://site.example/${n}`,
    title: `${asked} ${n}`,
    content: `About ${asked}.`,
    engine: 'test',
    score: 1 / n,
  }));
  return send(response, 200, json, JSON.stringify({ query: asked, number_of_results: 3, results, suggestions: [] }));
}

const pages = {
  '/page': (_url, response) => send(response, 200, html, page),
  '/moved': (_url, response) => send(response, 302, { location: '/page' }),
  '/inside': (_url, response) => send(response, 302, { location: `https://${process.env.INSIDE}/api` }),
  '/search': search,
};

createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://site');
  const give = pages[url.pathname];
  if (give === undefined) send(response, 404, html);
  else give(url, response);
}).listen(8_080, '0.0.0.0');
