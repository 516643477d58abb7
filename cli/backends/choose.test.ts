import { describe, expect, it } from 'vitest';
import type { GlobalOptions } from '../command-context.ts';
import { type BackendChoice, chooseBackend, flagsOf } from './choose.ts';

const server = 'https://w.example';
const http: BackendChoice = { kind: 'http', server };
const kubernetes: BackendChoice = { kind: 'kubernetes' };
const env = { WINDLASS_SERVER: server };

describe('the backend of a command', () => {
  it.each<[title: string, options: GlobalOptions, env: Record<string, string>, want: BackendChoice]>([
    ['Kubernetes, unless an option names another', {}, {}, kubernetes],
    ['to the server of the option', { server }, {}, http],
    ['to the server of the environment', {}, env, http],
    ['to the option rather than to the environment', { server }, { WINDLASS_SERVER: 'https://other.example' }, http],
    ['to Kubernetes when a context is named', { context: 'prod' }, env, kubernetes],
    ['to Kubernetes when a namespace is named', { namespace: 'team-a' }, env, kubernetes],
    ['to Kubernetes when a kubeconfig is named', { kubeconfig: 'file' }, env, kubernetes],
    ['to the server of the environment with a token file', { tokenFile: 'file' }, env, http],
    ['to Kubernetes when the environment is empty', {}, { WINDLASS_SERVER: '' }, kubernetes],
  ])('%s', (_, options, variables, want) => {
    expect(chooseBackend(options, variables)).toEqual(want);
  });

  it.each<[GlobalOptions, RegExp]>([
    [{ server, namespace: 'a' }, /--server and --namespace exclude each other/],
    [{ server, context: 'a' }, /--server and --context/],
    [{ tenant: 'a', kubeconfig: 'f' }, /--tenant and --kubeconfig/],
    [{ tenant: 'a' }, /--tenant is for the HTTP API/],
    [{ tokenFile: 'f' }, /--token-file is for the HTTP API/],
    [{ server: 'w.example' }, /'w\.example' is not the address of a server/],
  ])('is not guessed for %j', (options, message) => {
    expect(() => chooseBackend(options, {})).toThrow(message);
  });

  it('shows commands that lead there again', () => {
    expect(flagsOf({})).toBe('');
    expect(flagsOf({ server, tenant: 'acme', tokenFile: '/run/my token', output: 'json' })).toBe(
      " --server https://w.example --tenant acme --token-file '/run/my token'",
    );
    expect(flagsOf({ context: 'prod', kubeconfig: "it's" })).toBe(" --context prod --kubeconfig 'it'\\''s'");
  });

  it.each([
    ['https://W.example/', 'https://w.example'],
    ['https://w.example:443', 'https://w.example'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['https://w.example/windlass/?x=1#y', 'https://w.example/windlass'],
  ])('knows %s as %s, so that a login is found again', (text, want) => {
    expect(chooseBackend({ server: text }, {})).toEqual({ kind: 'http', server: want });
  });
});
