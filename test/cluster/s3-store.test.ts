import { gzipSync } from 'node:zlib';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Blob, createBlob } from '../../lib/output-store/blob.ts';
import { createS3Store } from '../../lib/output-store/s3-store.ts';
import { type S3Server, startS3Server } from './outputs/s3-server.ts';

/** Needs no cluster, only a real S3-compatible server, which it starts. */
describe('WF-CR-19 AMB-022 outputs in S3', () => {
  let server: S3Server;
  const owner = { namespace: 'tenant', name: 'run', uid: 'c0ffee00-0000-4000-8000-000000000001' };
  const other = { namespace: 'tenant', name: 'other', uid: 'c0ffee00-0000-4000-8000-000000000002' };
  const locate = ({ ref, data }: Blob, { uid } = owner) => ({
    executionUid: uid,
    ref,
    encoding: 'text' as const,
    bytes: data.byteLength,
  });

  beforeAll(async () => {
    server = await startS3Server();
  });
  afterAll(() => server?.stop());

  it.each<[title: string, data: Uint8Array]>([
    ['no byte', new Uint8Array()],
    ['text', Buffer.from('déjà vu\n')],
    ['bytes that are no text', Buffer.from([0, 255, 254, 13, 10, 0])],
    ['5 MiB that cannot be compressed', randomBytes(5 * 1024 * 1024)],
  ])('come back byte for byte: %s', async (_title, data) => {
    const store = createS3Store(server.options);
    const blob = createBlob(data);
    const stored = await store.put(owner, [blob], 0);
    expect(stored).toBe((await server.readObject(`tests/tenant/${owner.uid}/${blob.ref}`)).byteLength);
    expect(Buffer.from(await store.get('tenant', locate(blob))).equals(Buffer.from(data))).toBe(true);
  });

  it('are put twice without harm, and have no budget', async () => {
    const store = createS3Store(server.options);
    const blob = createBlob(Buffer.from('twice'));
    await store.put(owner, [blob, createBlob(Buffer.from('more'))], Number.MAX_SAFE_INTEGER);
    await store.put(owner, [blob], Number.MAX_SAFE_INTEGER);
    expect(Buffer.from(await store.get('tenant', locate(blob))).toString()).toBe('twice');
  });

  it('are refused when they are not the bytes that the hash names', async () => {
    const store = createS3Store(server.options);
    const blob = createBlob(Buffer.from('the truth'));
    await store.put(owner, [blob], 0);
    const key = `tests/tenant/${owner.uid}/${blob.ref}`;
    await server.writeObject(key, gzipSync('a lie'));
    await expect(store.get('tenant', locate(blob))).rejects.toMatchObject({ reason: 'OutputLost' });
    await server.writeObject(key, Buffer.from('no gzip at all'));
    await expect(store.get('tenant', locate(blob))).rejects.toMatchObject({ reason: 'OutputLost' });
  });

  it('that are gone say so', async () => {
    const lookup = createS3Store(server.options).get('tenant', locate(createBlob(Buffer.from('never stored'))));
    await expect(lookup).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of one execution are deleted, more than a page of them, and those of another stay', async () => {
    const store = createS3Store(server.options);
    const blobs = Array.from({ length: 1_003 }, (_, index) => createBlob(Buffer.from(`blob ${index}`)));
    const kept = createBlob(Buffer.from('kept'));
    await store.put(owner, blobs, 0);
    await store.put(other, [kept], 0);
    await store.deleteAll?.(owner);
    expect(await server.keys()).toEqual([`tests/tenant/${other.uid}/${kept.ref}`]);
    await store.deleteAll?.(owner);
  });

  it('of another execution are kept for the one that takes them over, under keys that need escaping too', async () => {
    const store = createS3Store({ ...server.options, prefix: 'a b+c/ü/' });
    const [there, gone] = [createBlob(Buffer.from('there')), createBlob(Buffer.from('never stored'))];
    await store.put(owner, [there], 0);
    const next = { namespace: 'tenant', name: 'next', uid: 'c0ffee00-0000-4000-8000-000000000003' };
    expect(await store.adopt(next, [locate(there), locate(gone)])).toEqual([locate(gone)]);
    await store.deleteAll?.(owner);
    expect(Buffer.from(await store.get('tenant', { ...locate(there, next), storedBy: owner.uid })).toString()).toBe(
      'there',
    );
    await store.deleteAll?.(next);
    await expect(store.get('tenant', locate(there, next))).rejects.toMatchObject({ reason: 'OutputLost' });
  });

  it('are neither written nor deleted once the guard objects', async () => {
    const stored = createBlob(Buffer.from('there before'));
    await createS3Store(server.options).put(other, [stored], 0);
    const before = await server.keys();
    expect(before).toContain(`tests/tenant/${other.uid}/${stored.ref}`);
    const guard = (): never => {
      throw new Error('no longer the leader');
    };
    const store = createS3Store({ ...server.options, guard });
    await expect(store.put(owner, [createBlob(Buffer.from('late'))], 0)).rejects.toThrow('no longer the leader');
    await expect(store.deleteAll?.(other)).rejects.toThrow('no longer the leader');
    await expect(store.adopt(owner, [locate(stored, other)])).rejects.toThrow('no longer the leader');
    expect(await server.keys()).toEqual(before);
  });

  it('with wrong credentials fail with the name of the bucket, and without a credential in the message', async () => {
    const credentials = { accessKeyId: 'nobody', secretAccessKey: 'a-secret-that-must-not-show' };
    const store = createS3Store({ ...server.options, credentials });
    const failure = await store.put(owner, [createBlob(Buffer.from('x'))], 0).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unavailable', reason: 'OutputStoreUnavailable' });
    expect(String(failure)).toContain('bucket outputs');
    expect(String(failure)).not.toContain('a-secret-that-must-not-show');
  });
});
