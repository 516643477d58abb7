import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { signInPage } from './pages.ts';
import { formatPerson, parsePerson } from './person.ts';

const formBytesMax = 8_192;

/**
 * The page on which a user names themselves; no password is asked for. A request with `login_hint`, a person as
 * text, is through at once, so that scripts need no page.
 */
export async function answerSignIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (prompt.name !== 'login') {
    return provider.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true });
  }
  const hint = typeof params.login_hint === 'string' ? params.login_hint : undefined;
  const accountId = request.method === 'POST' ? accountOf(await readForm(request)) : canonical(hint);
  if (accountId === undefined) return answerPage(response);
  return provider.interactionFinished(request, response, { login: { accountId } });
}

function canonical(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const person = parsePerson(text);
  return person.name === '' ? undefined : formatPerson(person);
}

function accountOf(form: URLSearchParams): string | undefined {
  const name = form.get('user')?.trim() ?? '';
  if (name === '') return undefined;
  const roles = (form.get('roles') ?? '').split(/[\s,]+/).filter(Boolean);
  return formatPerson({ name, tenant: form.get('tenant')?.trim() || undefined, roles });
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > formBytesMax) throw new Error('the form is too large');
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

function answerPage(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  response.end(signInPage);
}
