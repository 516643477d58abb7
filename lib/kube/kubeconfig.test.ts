import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveContext } from './kubeconfig.ts';
import { findCredentials } from './kubeconfig-credentials.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
});
afterEach(() => rmSync(home, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(home, name);
  writeFileSync(path, text);
  return path;
}

/** A kubeconfig with one context, `user` being flow YAML. */
function config(user: string, cluster = 'server: https://one:6443/'): string {
  return [
    'current-context: main',
    'contexts: [{name: main, context: {cluster: c, user: u, namespace: team-a}}]',
    `clusters: [{name: c, cluster: {${cluster}}}]`,
    `users: [{name: u, user: ${user}}]`,
  ].join('\n');
}

const now = () => Date.now();

describe('findCredentials', () => {
  it('takes the named file, then KUBECONFIG, then the home folder', async () => {
    mkdirSync(join(home, '.kube'));
    write('.kube/config', config('{token: from-home}'));
    const inEnv = write('env.yaml', config('{token: from-env}'));
    const named = write('named.yaml', config('{token: from-name}'));
    const token = async (options: object, env: object = {}) => {
      const source = await findCredentials({ env: { HOME: home, ...env }, now, ...options });
      return (await source.current()).headers.authorization;
    };
    expect(await token({ kubeconfig: named }, { KUBECONFIG: inEnv })).toBe('Bearer from-name');
    expect(await token({}, { KUBECONFIG: inEnv })).toBe('Bearer from-env');
    expect(await token({})).toBe('Bearer from-home');
  });

  it('reads server, namespace, certificates beside the file, and the name to check', async () => {
    write('ca.pem', 'CA');
    const data = Buffer.from('CERT').toString('base64');
    const path = write(
      'k.yaml',
      config(
        `{client-certificate-data: ${data}, client-key: key.pem}`,
        'server: https://one:6443/, certificate-authority: ca.pem, tls-server-name: api',
      ),
    );
    write('key.pem', 'KEY');
    const source = await findCredentials({ env: {}, now, kubeconfig: path });
    expect(source.namespace).toBe('team-a');
    expect(await source.current()).toMatchObject({
      server: 'https://one:6443',
      headers: {},
      tls: { ca: 'CA', cert: 'CERT', key: 'KEY', serverName: 'api' },
    });
  });

  const users: Record<string, { user: string; want: object }> = {
    'a token': { user: '{token: abc}', want: { authorization: 'Bearer abc' } },
    'a token file, trimmed': { user: '{tokenFile: token}', want: { authorization: 'Bearer from-file' } },
    'name and password': { user: '{username: u, password: p}', want: { authorization: 'Basic dTpw' } },
    'acting as another': {
      user: '{token: t, as: someone, as-groups: [a, b]}',
      want: { authorization: 'Bearer t', 'impersonate-user': 'someone', 'impersonate-group': ['a', 'b'] },
    },
    nothing: { user: '{}', want: {} },
  };
  it.each(Object.entries(users))('user with %s', async (_, { user, want }) => {
    write('token', 'from-file\n');
    const source = await findCredentials({ env: {}, now, kubeconfig: write('k.yaml', config(user)) });
    expect((await source.current()).headers).toEqual(want);
  });

  it('a credential plugin is run, found beside the file', async () => {
    const plugin = write(
      'plugin.sh',
      '#!/bin/sh\necho \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"by-plugin"}}\'\n',
    );
    chmodSync(plugin, 0o755);
    execFileSync(plugin);
    const exec = '{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin.sh, interactiveMode: Never}}';
    const source = await findCredentials({ env: {}, now, kubeconfig: write('k.yaml', config(exec)) });
    expect(await source.current()).toMatchObject({
      server: 'https://one:6443',
      headers: { authorization: 'Bearer by-plugin' },
    });
  });

  it('a pod uses its service account and follows the token', async () => {
    mkdirSync(join(home, 'sa'));
    for (const [file, text] of Object.entries({ token: 'one', 'ca.crt': 'CA', namespace: 'windlass-system' })) {
      write(`sa/${file}`, text);
    }
    const { inClusterCredentials } = await import('./in-cluster.ts');
    let time = 0;
    const source = await inClusterCredentials({
      env: { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' },
      now: () => time,
      folder: join(home, 'sa'),
    });
    expect(source?.namespace).toBe('windlass-system');
    expect(await source?.current()).toMatchObject({
      server: 'https://[fd00::1]:443',
      headers: { authorization: 'Bearer one' },
    });
    write('sa/token', 'two\n');
    time = 60_000;
    expect(await source?.current()).toMatchObject({ headers: { authorization: 'Bearer two' } });
  });

  it('says what to do when there is nothing', async () => {
    const found = findCredentials({ env: { HOME: home }, now });
    await expect(found).rejects.toMatchObject({ code: 'invalid', reason: 'KubeconfigMissing' });
    const missing = findCredentials({ env: { KUBECONFIG: join(home, 'no') }, now });
    await expect(missing).rejects.toThrow(`kubeconfig ${join(home, 'no')} cannot be read`);
  });
});

describe('resolveContext', () => {
  const one = { path: '/a/one', text: config('{token: t}') };
  it('the first file that names a thing defines it, and things may be in different files', () => {
    const users = {
      path: '/b/two',
      text: 'users: [{name: u, user: {client-key: k.pem}}, {name: v, user: {token: v}}]',
    };
    const withoutUser = { path: '/a/one', text: one.text.replace(/users:.*/, '') };
    expect(resolveContext([withoutUser, users]).user).toEqual({ 'client-key': '/b/k.pem' });
    expect(resolveContext([one, users]).user).toEqual({ token: 't' });
  });

  const broken: Record<string, { text: string; context?: string; want: RegExp }> = {
    'no current context': { text: 'contexts: []', want: /current-context is not set/ },
    'an unknown context': { text: one.text, context: 'other', want: /\/k: contexts has no 'other'/ },
    'a missing cluster': { text: one.text.replace(/clusters:.*/, ''), want: /clusters has no 'c'/ },
    'a missing user': { text: one.text.replace(/users:.*/, ''), want: /users has no 'u'/ },
    'no server': { text: config('{}', 'x: y'), want: /cluster 'c' has no server/ },
    'no YAML': { text: 'a: [', want: /\/k: not YAML/ },
    'a list of thousands of levels': {
      text: `a: ${'['.repeat(9_000)}${']'.repeat(9_000)}`,
      want: /\/k: nested too deep/,
    },
    'a list at the top': { text: '[]', want: /current-context is not set/ },
  };
  it.each(Object.entries(broken))('%s is named', (_, { text, context, want }) => {
    expect(() => resolveContext([{ path: '/k', text }], context)).toThrow(want);
  });
});
